/**
 * Text search with ripgrep and its defaults: ignored and hidden files are left out. Matches come in the order of paths,
 * so that pages fit together. In that order ripgrep uses one thread and can stop when the page is full, which is
 * fastest for many matches or few files. For few matches among many files all threads are faster. Which case it is
 * shows only during the search.
 */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import type { Match, Page, SearchText } from '../../model/spoke.ts';
import { realNames } from './path.ts';
import { Ripgrep } from './ripgrep.ts';

const maxTextLength = 500;

export interface SearchLimits {
  /** Time for one thread to search, before all threads do. */
  readonly inOrderMs: number;
  /** The most matches that are kept for sorting. */
  readonly unordered: number;
}

const defaultLimits: SearchLimits = { inOrderMs: 40, unordered: 10_000 };

interface Reported {
  readonly data: {
    readonly path: { readonly text?: string };
    readonly lines: { readonly text?: string };
    readonly line_number: number;
    readonly submatches: readonly { readonly start: number }[];
  };
}

export async function searchText(
  root: string,
  request: SearchText,
  signal: AbortSignal,
  { inOrderMs, unordered }: SearchLimits = defaultLimits,
): Promise<Page<Match>> {
  const where = realNames(root, request.path, true).join('/') || '.';
  requireReadable(join(root, where), request.path);
  const start = (...more: string[]) => new Ripgrep(root, [...more, ...argsOf(request, where)], signal);
  const inOrder = () => start('--sort=path');
  return (
    (await pageWithin(inOrder(), request, inOrderMs)) ??
    (await sortedPage(start(), request, unordered)) ??
    (await pageOf(inOrder(), request))
  );
}

/** Null: the page is not full in time, and there may be more. */
async function pageWithin(search: Ripgrep, request: SearchText, withinMs: number): Promise<Page<Match> | null> {
  const late = setTimeout(() => search.stop(), withinMs);
  try {
    const page = await pageOf(search, request);
    return page.more || !search.isStopped ? page : null;
  } finally {
    clearTimeout(late);
  }
}

async function pageOf(search: Ripgrep, request: SearchText): Promise<Page<Match>> {
  return checked(search, await collect(search.lines, request));
}

/** Null: there are too many matches. */
async function sortedPage(search: Ripgrep, { skip, limit }: SearchText, most: number): Promise<Page<Match> | null> {
  const { items, more } = await checked(search, await collect(search.lines, { skip: 0, limit: most }));
  if (more) return null;
  const keys = new Map(items.map(({ path }) => [path, orderOf(path)]));
  // ripgrep reports the matches of a file together and in order; the sort is stable.
  items.sort((a, b) => (a.path === b.path ? 0 : Buffer.compare(keys.get(a.path)!, keys.get(b.path)!)));
  return { items: items.slice(skip, skip + limit), more: items.length > skip + limit };
}

/** Compares as ripgrep does: name by name, byte by byte. */
function orderOf(path: string): Buffer {
  return Buffer.from(path.replaceAll('/', '\0'));
}

async function checked(search: Ripgrep, page: Found): Promise<Found> {
  const wrong = await search.end();
  if (wrong !== null && page.items.length === 0) throw new Fault('invalid', `ripgrep: ${wrong}`);
  return page;
}

/** Refuses special files: ripgrep would wait for the other end of a named pipe. */
function requireReadable(found: string, path: string): void {
  const stat = lstatSync(found, { throwIfNoEntry: false });
  if (stat === undefined) throw new Fault('not_found', `${printable(path)} does not exist`);
  if (!stat.isFile() && !stat.isDirectory())
    throw new Fault('invalid', `${printable(path)} is neither a file nor a folder`);
}

function argsOf({ pattern, isLiteral, ignoreCase, globs }: SearchText, where: string): string[] {
  return [
    ...['--json', '--no-config'],
    ...(isLiteral ? ['--fixed-strings'] : []),
    ...(ignoreCase ? ['--ignore-case'] : []),
    ...globs.map((glob) => `--glob=${glob}`),
    ...['--regexp', pattern, '--', where],
  ];
}

interface Found {
  readonly items: Match[];
  readonly more: boolean;
}

async function collect(
  lines: AsyncIterable<string>,
  { skip, limit }: Pick<SearchText, 'skip' | 'limit'>,
): Promise<Found> {
  const items: Match[] = [];
  let left = skip;
  for await (const line of lines) {
    const found = matchOf(line);
    if (found === null || left-- > 0) continue;
    if (items.length === limit) return { items, more: true };
    items.push(found);
  }
  return { items, more: false };
}

function matchOf(line: string): Match | null {
  const found = line.startsWith('{"type":"match"') ? reportedIn(line) : null;
  if (found === null || found.data.path.text === undefined) return null;
  const { data } = found;
  const text = data.lines.text ?? '';
  const at = data.submatches[0]?.start ?? 0;
  const column = Buffer.from(text).subarray(0, at).toString().length + 1;
  const path = join(data.path.text!);
  return { path, line: data.line_number, column, text: text.replace(/\r?\n$/, '').slice(0, maxTextLength) };
}

function reportedIn(line: string): Reported | null {
  try {
    return JSON.parse(line) as Reported;
  } catch {
    // A search that was stopped may end within a line, ignoring.
    return null;
  }
}
