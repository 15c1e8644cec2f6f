/** Compares the few kinds of files whose content decides whether they can run a program. Null: the file is absent. */

import { isObject, type JsonTree, parseMembers, valuesOf } from './json-members.ts';

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
  'devEngines',
  'volta',
  'pnpm',
  'trustedDependencies',
  'patchedDependencies',
  'dependenciesMeta',
  // An install of the whole workspace runs the scripts of its packages.
  'workspaces',
];
const dependencyKeys = [
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
  'overrides',
  'resolutions',
  'catalog',
  'catalogs',
];

/** For package.json. A file that the parser refuses counts as different. */
export function scriptsDiffer(before: Bytes, after: Bytes): boolean {
  try {
    return scriptsOf(before) !== scriptsOf(after);
  } catch {
    return true;
  }
}

/**
 * Every member with one of the names counts: if a name occurs twice, some programs read the first member and others the
 * last.
 */
function scriptsOf(bytes: Bytes): string {
  const parsed = parseMembers(bytes === null ? '{}' : text(bytes));
  if (!isObject(parsed)) throw new Error('not an object');
  return JSON.stringify([
    ...scriptKeys.map((key) => valuesOf(parsed, key)),
    ...dependencyKeys.map((key) =>
      valuesOf(parsed, key)
        .map(fromElsewhere)
        .filter((found) => found !== null),
    ),
  ]);
}

/**
 * A dependency from a registry is a range of versions, a tag, or an alias of these. For npm a name that begins with a
 * dot is a folder, and a name that ends like an archive is an archive, even without a slash.
 */
const fromRegistry =
  /^(?!\.|.*\.(?:tgz|tar|tar\.gz)\s*$)(?:npm:(?:@[\w.~-]+\/)?[\w.~-]+(?:@[^:/]*)?|(?:workspace:|catalog:)?[^:/\\]*)$/i;

/** Dependencies that are fetched from an address of their own and may run scripts when installed; at any depth. */
function fromElsewhere(value: JsonTree): unknown {
  if (typeof value === 'string') return fromRegistry.test(value) ? null : value;
  if (!isObject(value)) return null;
  const found = value.members.map(([name, inner]) => [name, fromElsewhere(inner)] as const);
  const kept = found.filter(([, inner]) => inner !== null);
  return kept.length === 0 ? null : kept;
}

/** For go.mod: compares the toolchain, the tools, and replacements of modules. */
export function modulesDiffer(before: Bytes, after: Bytes): boolean {
  return moduleLines(before) !== moduleLines(after);
}

function moduleLines(bytes: Bytes): string {
  const lines = bytes === null ? [] : text(bytes).split(/\r?\n/);
  let inTools = false;
  return lines
    .filter((line) => {
      if (/^\s*\)/.test(line)) inTools = false;
      const counts = inTools || /=>|^\s*(?:toolchain|tool|use)\b/.test(line);
      if (/^\s*(?:tool|use)\s*\(/.test(line)) inTools = true;
      return counts;
    })
    .join('\n');
}

const driver = /(?:^|\s)(?:filter|diff|merge)=(?!(?:set|unset|text|binary|union|ours)(?:\s|$))\S/;

/** True: a line of a `.gitattributes` that names a driver was added or removed. */
export function attributesDiffer(before: Bytes, after: Bytes): boolean {
  return driverLines(before) !== driverLines(after);
}

function driverLines(bytes: Bytes): string {
  const lines = bytes === null ? [] : text(bytes).split(/\r?\n/);
  return lines.filter((line) => driver.test(line)).join('\n');
}

/**
 * Git takes any folder with HEAD and config for a repository and obeys its config. An agent that cannot write to `.git`
 * can build such a folder by hand.
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
