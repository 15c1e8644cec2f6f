/**
 * Parses lockfiles well enough to describe a change. The agent wrote them, so the result decides nothing: a changed
 * lockfile is gated whatever it says. Each parser takes time in proportion to the text; what it does not understand it
 * leaves out, or it throws.
 */
import { isObject, type JsonTree, parseMembers, valuesOf } from '../json-members.ts';

/** One package that a lockfile pins. */
export interface Pinned {
  readonly name: string;
  readonly version: string;
  /** Everything that the lockfile says about it: source and hash. */
  readonly text: string;
}

type Read = (text: string) => Pinned[];

const readers: Readonly<Record<string, Read>> = {
  'package-lock.json': npm,
  'npm-shrinkwrap.json': npm,
  'bun.lock': bun,
  'composer.lock': composer,
  'pipfile.lock': pipfile,
  'yarn.lock': yarn,
  'pnpm-lock.yaml': pnpm,
  'uv.lock': toml,
  'poetry.lock': toml,
  'pdm.lock': toml,
  'cargo.lock': toml,
  'go.sum': goSum,
  'go.work.sum': goSum,
  'gemfile.lock': gemfile,
};

/** Null: there is no parser for such a file. */
export function readerFor(name: string): Read | null {
  return Object.hasOwn(readers, name) ? readers[name]! : null;
}

function pinned(name: string, version: string, entry: unknown): Pinned {
  return { name, version, text: typeof entry === 'string' ? entry : JSON.stringify(entry) };
}

function textOf(value: JsonTree | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function membersOf(value: JsonTree | undefined): readonly (readonly [string, JsonTree])[] {
  return isObject(value) ? value.members : [];
}

/** Since version 7 npm writes `packages` by folder, before that nested `dependencies`. */
function npm(text: string): Pinned[] {
  const root = parseMembers(text);
  const found = valuesOf(root, 'packages').flatMap((packages) =>
    membersOf(packages)
      .filter(([place]) => place !== '')
      .map(([place, entry]) => pinned(place.split('node_modules/').at(-1)!, versionIn(entry), entry)),
  );
  return [...found, ...valuesOf(root, 'dependencies').flatMap(nested)];
}

function nested(dependencies: JsonTree): Pinned[] {
  return membersOf(dependencies).flatMap(([name, entry]) => {
    const own = isObject(entry) ? { members: entry.members.filter(([key]) => key !== 'dependencies') } : entry;
    return [pinned(name, versionIn(entry), own), ...valuesOf(entry, 'dependencies').flatMap(nested)];
  });
}

function versionIn(entry: JsonTree): string {
  return valuesOf(entry, 'version').map(textOf).join(' or ');
}

function bun(text: string): Pinned[] {
  return valuesOf(parseMembers(text, { lenient: true }), 'packages')
    .flatMap(membersOf)
    .map(([place, entry]) => {
      const [name, version] = nameAndVersion(Array.isArray(entry) ? textOf(entry[0]) : '');
      return pinned(name || place, version, entry);
    });
}

function composer(text: string): Pinned[] {
  const root = parseMembers(text);
  return ['packages', 'packages-dev']
    .flatMap((key) => valuesOf(root, key))
    .flatMap((list) => (Array.isArray(list) ? (list as JsonTree[]) : []))
    .map((entry) => pinned(valuesOf(entry, 'name').map(textOf).join(' or '), versionIn(entry), entry));
}

function pipfile(text: string): Pinned[] {
  const root = parseMembers(text);
  return ['default', 'develop']
    .flatMap((key) => valuesOf(root, key).flatMap(membersOf))
    .map(([name, entry]) => pinned(name, versionIn(entry).replace(/^==/, ''), entry));
}

/** In both formats of yarn a block begins at the margin and has indented lines. */
function yarn(text: string): Pinned[] {
  return blocks(text, /^[^\s#]/)
    .filter(([head = '']) => head.includes('@'))
    .map(([head = '', ...lines]) => {
      const [name] = nameAndVersion(head.replace(/^"|"?:\s*$/g, '').split(', ')[0]!);
      return pinned(name, valueIn(lines, /^\s+version:?\s+"?([^"\s]+)/), lines.join('\n'));
    });
}

function pnpm(text: string): Pinned[] {
  const lines = text.split(/\r?\n/);
  const start = lines.indexOf('packages:');
  const length = lines.slice(start + 1).findIndex((line) => /^\S/.test(line));
  const section = start < 0 ? [] : lines.slice(start + 1, length < 0 ? undefined : start + 1 + length);
  return blocks(section.join('\n'), /^ {2}\S/).map(([head = '', ...rest]) => {
    const [name, version] = nameAndVersion(head.trim().replace(/^['"]?\/?|['"]?:$/g, ''));
    return pinned(name, version, rest.join('\n'));
  });
}

/** Reads `[[package]]` blocks. The last block includes the hashes that older formats list at the end. */
function toml(text: string): Pinned[] {
  return blocks(text, /^\[\[package\]\]/)
    .filter(([head]) => head?.startsWith('[[package]]'))
    .map((lines) =>
      pinned(
        valueIn(lines, /^name\s*=\s*["']([^"']*)["']/),
        valueIn(lines, /^version\s*=\s*["']([^"']*)["']/),
        lines.join('\n').trimEnd(),
      ),
    );
}

function goSum(text: string): Pinned[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.split(' '))
    .filter((words) => words.length === 3)
    .map(([name = '', version = '', hash = '']) =>
      pinned(name, version.replace(/\/go\.mod$/, ''), `${version} ${hash}`),
    );
}

function gemfile(text: string): Pinned[] {
  let from = '';
  return text.split(/\r?\n/).flatMap((line) => {
    from = /^ {2}(?:remote|revision): (.*)/.exec(line)?.[1] ?? from;
    const spec = /^ {4}(\S+) \(([^)]*)\)$/.exec(line);
    return spec === null ? [] : [pinned(spec[1]!, spec[2]!, from)];
  });
}

function blocks(text: string, begins: RegExp): string[][] {
  const found: string[][] = [];
  for (const line of text.split(/\r?\n/)) {
    if (begins.test(line)) found.push([line]);
    else found.at(-1)?.push(line);
  }
  return found;
}

function valueIn(lines: readonly string[], pattern: RegExp): string {
  for (const line of lines) {
    const found = pattern.exec(line)?.[1];
    if (found !== undefined) return found;
  }
  return '';
}

/** `name@1.0.0`, `@scope/name@npm:^1`; before pnpm 6 `name/1.0.0`. */
function nameAndVersion(text: string): [name: string, version: string] {
  const at = text.indexOf('@', 1);
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  const slash = text.lastIndexOf('/');
  return slash > 0 && /^\d/.test(text.slice(slash + 1)) ? [text.slice(0, slash), text.slice(slash + 1)] : [text, ''];
}
