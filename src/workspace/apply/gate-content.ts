/** The few files whose content decides whether they can run something. Null: the file is not there. */

type Bytes = Uint8Array | null;

const scriptKeys = [
  'scripts',
  'bin',
  'gypfile',
  'husky',
  'lint-staged',
  'simple-git-hooks',
  'pre-commit',
  'pre-push',
  'gitHooks',
  'packageManager',
  'pnpm',
];
const dependencyKeys = [
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
  'overrides',
  'resolutions',
];

/** Of package.json. One that cannot be read as the package managers do counts as different. */
export function scriptsDiffer(before: Bytes, after: Bytes): boolean {
  try {
    return scriptsOf(before) !== scriptsOf(after);
  } catch {
    return true;
  }
}

function scriptsOf(bytes: Bytes): string {
  if (bytes === null) return scriptsOf(Buffer.from('{}'));
  const parsed: unknown = JSON.parse(text(bytes));
  if (typeof parsed !== 'object' || parsed === null) throw new Error('not an object');
  const keys = parsed as Record<string, unknown>;
  return JSON.stringify([
    ...scriptKeys.map((key) => keys[key] ?? null),
    ...dependencyKeys.map((key) => fromElsewhere(keys[key])),
  ]);
}

/** What comes from a registry is a range of versions, a tag, or another name for such. */
const fromRegistry = /^(?:npm:(?:@[\w.~-]+\/)?[\w.~-]+(?:@[^:/]*)?|workspace:[^:/]*|catalog:[^:/]*|[^:/]*)$/;

/** Dependencies that are fetched from where they say, and may run something when they are installed; at any depth. */
function fromElsewhere(value: unknown): unknown {
  if (typeof value === 'string') return fromRegistry.test(value) ? null : value;
  if (typeof value !== 'object' || value === null) return null;
  const found = Object.entries(value).map(([name, inner]) => [name, fromElsewhere(inner)] as const);
  const kept = found.filter(([, inner]) => inner !== null);
  return kept.length === 0 ? null : kept;
}

const driver = /(?:^|\s)(?:filter|diff|merge)=(?!(?:set|unset|text|binary|union|ours)(?:\s|$))\S/;

/** A line of attributes that names a driver came or went. */
export function attributesDiffer(before: Bytes, after: Bytes): boolean {
  return driverLines(before) !== driverLines(after);
}

function driverLines(bytes: Bytes): string {
  const lines = bytes === null ? [] : text(bytes).split(/\r?\n/);
  return lines.filter((line) => driver.test(line)).join('\n');
}

/**
 * A folder with HEAD and config is a repository to git, wherever it is, and git obeys its config. An agent that has no
 * `.git` to write to can build one by hand.
 */
export function isRepositoryPart(before: Bytes, after: Bytes): boolean {
  return [before, after].some((bytes) => bytes !== null && looksLikeRepository(text(bytes)));
}

function looksLikeRepository(content: string): boolean {
  return /^\s*(?:ref:\s*refs\/|[0-9a-f]{40,64}\s*$)/.test(content) || /^\s*\[[^\]]+\]/m.test(content);
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
