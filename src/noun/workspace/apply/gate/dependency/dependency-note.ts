/** One line about a changed lockfile or toolchain file: the packages and their new sources, or the changed lines. */
import { type Pinned, readerFor } from './lockfile.ts';

type Bytes = Uint8Array | null;

/** The note on a larger file says only that its content is not known. */
export const maxLockBytes = 16 * 1024 ** 2;
const maxNoteCharacters = 300;
const maxNamed = 3;

/** `name` is the file name in lower case. Null stands for an absent file. */
export function dependencyNote(name: string, before: Bytes, after: Bytes): string {
  return shortened(sentence(name, before, after).replace(/\s+/g, ' '), maxNoteCharacters);
}

function sentence(name: string, before: Bytes, after: Bytes): string {
  if (after === null) return 'removed';
  const read = readerFor(name);
  if ([before, after].some((bytes) => bytes !== null && isBinary(bytes))) return 'binary: what it pins is not known';
  const [old, now] = [before === null ? '' : text(before), text(after)];
  if (read === null) return changedLines(old, now);
  try {
    return changedPackages(read(old), read(now)) || changedLines(old, now);
  } catch {
    return unlessBroken(read, now);
  }
}

/** For an old file that is absent or that the parser refuses. */
function unlessBroken(read: (text: string) => Pinned[], now: string): string {
  try {
    return changedPackages([], read(now)) || 'what it pins cannot be read';
  } catch {
    return 'what it pins cannot be read';
  }
}

function changedPackages(before: readonly Pinned[], after: readonly Pinned[]): string {
  const [old, now] = [byName(before), byName(after)];
  const added = [...now.keys()].filter((name) => !old.has(name));
  const removed = [...old.keys()].filter((name) => !now.has(name));
  const changed = [...now.keys()].filter(
    (name) => old.has(name) && contentOf(old.get(name)!) !== contentOf(now.get(name)!),
  );
  const known = new Set(placesIn(before));
  const places = [...new Set(placesIn(after))].filter((place) => !known.has(place));
  return [
    listed(
      'added',
      added.map((name) => `${name} ${versionsOf(now.get(name)!)}`.trimEnd()),
    ),
    listed('removed', removed),
    listed(
      'changed',
      changed.map((name) => `${name} ${difference(old.get(name)!, now.get(name)!)}`),
    ),
    listed('from a new place', places, 'from new places'),
  ]
    .filter((part) => part !== '')
    .join('; ');
}

function byName(all: readonly Pinned[]): Map<string, Pinned[]> {
  const found = new Map<string, Pinned[]>();
  for (const one of all) {
    const others = found.get(one.name);
    if (others) others.push(one);
    else found.set(one.name, [one]);
  }
  return found;
}

function contentOf(all: readonly Pinned[]): string {
  return JSON.stringify(all.map(({ version, text }) => [version, text]).sort());
}

function versionsOf(all: readonly Pinned[]): string {
  return [...new Set(all.map(({ version }) => version))].sort().join('+');
}

function difference(before: readonly Pinned[], after: readonly Pinned[]): string {
  const [old, now] = [versionsOf(before), versionsOf(after)];
  return old === now ? `${now} with other content`.trimStart() : `${old} → ${now}`;
}

const address =
  /\b[a-z][a-z0-9+.-]{0,20}:\/\/(?:[^@/\s"']*@)?([^/\s"'#?]+)|\bgit@([^:/\s"']+):|\b((?:file|link|portal|path|exec|patch):[^\s"',}]+)/gi;

/** The hosts and local paths that packages come from. */
function placesIn(all: readonly Pinned[]): string[] {
  return all.flatMap(({ text }) =>
    [...text.matchAll(address)].map(([, host, git, path]) => (host ?? git ?? path ?? '').toLowerCase()),
  );
}

function listed(word: string, items: readonly string[], plural = word): string {
  if (items.length === 0) return '';
  const named = items.slice(0, maxNamed).map((item) => shortened(item, 80));
  const more = items.length > maxNamed ? `, and ${items.length - maxNamed} more` : '';
  return `${items.length === 1 ? word : plural} ${named.join(', ')}${more}`;
}

/** For files of a few lines: the new lines, or else the removed ones. */
function changedLines(before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  const [came, went] = [now.filter((line) => !old.includes(line)), old.filter((line) => !now.includes(line))];
  if (came.length + went.length === 0) return 'only the order of its lines, or its mode';
  return [listed('now', came), listed('no more', went)].filter((part) => part !== '').join('; ');
}

const maxLines = 200;

function linesOf(content: string): string[] {
  return content
    .split(/\r?\n/, maxLines)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function shortened(words: string, max: number): string {
  return words.length <= max ? words : `${words.slice(0, max - 1)}…`;
}

function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8000).includes(0);
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
