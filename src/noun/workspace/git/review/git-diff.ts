/** The output of git for the two trees of a store: which paths differ, how, and the patch of each. */
import { type BytePath, fromBytes } from '../../../../model/byte-path.ts';
import { Fault } from '../../../../model/fault.ts';
import { gitFault, startGit } from '../git.ts';
import type { GitStore } from './git-store.ts';

export interface DiffEntry {
  readonly status: 'A' | 'M' | 'D' | 'R' | 'T';
  readonly path: BytePath;
  /** The old path of a rename. */
  readonly from: BytePath | null;
}

/** Null: the file is not text. */
export interface LineCount {
  readonly insertions: number | null;
  readonly deletions: number | null;
}

export interface Diff {
  readonly entries: readonly DiffEntry[];
  /** One for each entry. */
  readonly counts: readonly LineCount[];
  /** Each piece is made of whole sections, one section for each `diff --git` line. */
  readonly sections: AsyncIterable<Buffer[]>;
}

/** More pairs of added and deleted files than this squared are compared by their hashes only. */
const renameLimit = 400;
const common = ['-r', '-z', '--raw', '-M', `-l${renameLimit}`, '--no-rename-empty', '--no-ext-diff', '--no-textconv'];

export async function openDiff(store: GitStore, options: readonly string[]): Promise<Diff> {
  const chunks = output(store, ['diff-tree', ...common, ...options, 'refs/carrel/before', 'refs/carrel/after']);
  const head = new Head(store.mark);
  for (;;) {
    const { done, value } = await chunks.next();
    const rest = done ? null : head.take(value);
    if (rest !== null || done) {
      return { entries: head.entries, counts: head.counts, sections: sections(after(rest, chunks), store.mark) };
    }
  }
}

async function* output(store: GitStore, args: readonly string[]): AsyncGenerator<Buffer, void> {
  const child = startGit(store.git, args);
  child.stdin.end();
  try {
    for await (const chunk of child.stdout) yield chunk;
  } finally {
    // If the reader stops early, git is not needed any more.
    child.kill();
  }
  const { exitCode, stderr, fault } = await child.ended;
  if (fault !== null) throw fault;
  if (exitCode !== 0) throw gitFault(args, stderr);
}

/** Reads records that end with NUL, up to the empty one before the patch. */
class Head {
  readonly entries: DiffEntry[] = [];
  readonly counts: LineCount[] = [];
  readonly #mark: string;
  #rest: Buffer = Buffer.alloc(0);
  #record: string[] = [];

  constructor(mark: string) {
    this.#mark = mark;
  }

  /** Returns the bytes after the head; null: the head is not complete yet. */
  take(chunk: Buffer): Buffer | null {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    let start = 0;
    for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, start)) {
      const token = fromBytes(bytes.subarray(start, end));
      start = end + 1;
      if (token === '' && this.#record.length === 0) return bytes.subarray(start);
      this.#add(token);
    }
    this.#rest = bytes.subarray(start);
    return null;
  }

  #add(token: string): void {
    this.#record.push(token);
    const [first = '', ...names] = this.#record;
    if (names.length < namesAfter(first)) return;
    this.#record = [];
    const paths = names.map((name) => unmarked(name, this.#mark));
    if (first.startsWith(':')) this.entries.push(entryOf(first, paths));
    else this.counts.push(countOf(first));
  }
}

function namesAfter(first: string): number {
  if (first.startsWith(':')) return /[RC]\d*$/.test(first) ? 2 : 1;
  return first.endsWith('\t') ? 2 : 0;
}

function entryOf(record: string, [path = '', to]: readonly string[]): DiffEntry {
  const status = record.split(' ')[4]?.[0];
  if (status === 'R' && to !== undefined) return { status, path: to, from: path };
  if (status === 'A' || status === 'M' || status === 'D' || status === 'T') return { status, path, from: null };
  throw new Fault('internal', `git reports a change that is not understood: ${record}`);
}

function countOf(record: string): LineCount {
  const [insertions = '', deletions = ''] = record.split('\t');
  return { insertions: countIn(insertions), deletions: countIn(deletions) };
}

function countIn(text: string): number | null {
  return text === '-' ? null : Number(text);
}

const sectionStart = Buffer.from('\ndiff --git ');

/** Lines of content begin with a sign or a space, so only a header of git begins like this. */
async function* sections(chunks: AsyncIterable<Buffer>, mark: string): AsyncGenerator<Buffer[]> {
  let pending: Buffer[] = [];
  let tail: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    // A header may begin in one chunk and end in the next.
    const seam = Buffer.concat([tail, chunk]);
    pending.push(chunk);
    tail = seam.subarray(-sectionStart.length);
    if (!seam.includes(sectionStart)) continue;
    const found = split(Buffer.concat(pending));
    pending = found.splice(-1);
    yield found.map((section) => unmarkedBytes(section, mark));
  }
  const last = Buffer.concat(pending);
  if (last.length > 0) yield [unmarkedBytes(last, mark)];
}

async function* after(first: Buffer | null, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (first !== null) yield first;
  yield* chunks;
}

function split(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf(sectionStart); end >= 0; end = bytes.indexOf(sectionStart, start)) {
    found.push(bytes.subarray(start, end + 1));
    start = end + 1;
  }
  found.push(bytes.subarray(start));
  return found;
}

function unmarked(path: BytePath, mark: string): BytePath {
  return path.includes(mark) ? path.replaceAll(mark, '') : path;
}

function unmarkedBytes(section: Buffer, mark: string): Buffer {
  return section.includes(mark) ? Buffer.from(section.toString('latin1').replaceAll(mark, ''), 'latin1') : section;
}
