/**
 * Changes as two trees of a private git repository, so that git can compare them: `before` and `after`, each with the
 * changed files and links only. It is in a folder of the caller, who removes it.
 *
 * Large content stays out, unless `whole` is set: a placeholder made from its hash takes its place, so that git still
 * sees what is equal and what moved. Folders, FIFOs, sockets and devices have no place in a git tree.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BytePath } from '../../../../model/byte-path.ts';
import type { Change, Entry } from '../../model/change.ts';
import { Reader } from '../../tree/reader.ts';
import { fastImport } from '../fast-import.ts';
import { type Git, gitMode, quoted } from '../git.ts';
import {
  type Fact,
  hasCrLf,
  hashed,
  type Loaded,
  load,
  pieces,
  placeholderContent,
  type StoredData,
  sizeOf,
} from './stored-content.ts';

export interface StoreInput {
  readonly changes: readonly Change[];
  /** An empty, private folder, where a repository is made. */
  readonly folder: string;
  /** Keep large files too. */
  readonly whole?: boolean;
  /** Aborted: the store is no longer wanted, and opening it fails. */
  readonly signal?: AbortSignal;
}

export interface ChangeFacts {
  readonly before: Fact | null;
  readonly after: Fact | null;
}

export interface GitStore {
  readonly git: Git;
  readonly changes: readonly Change[];
  /** For files that are not shown, by path. */
  readonly facts: ReadonlyMap<BytePath, ChangeFacts>;
  /** Paths that could not be stored: the tree changed while it was read, or, for a whole store, bytes are missing. */
  readonly missing: ReadonlySet<BytePath>;
  /** A random suffix of every `.git` in stored paths; the author of the content cannot have known it. */
  readonly mark: string;
  /** Some line may end with CR LF. */
  readonly hasCrLf: boolean;
}

interface Side {
  readonly name: 'before' | 'after';
  readonly lines: string[];
  readonly files: Set<BytePath>;
}

interface Draft {
  readonly reader: Reader;
  readonly input: StoreInput;
  readonly mark: string;
  readonly facts: Map<BytePath, ChangeFacts>;
  readonly missing: Set<BytePath>;
  readonly before: Side;
  readonly after: Side;
  blobs: number;
  hasCrLf: boolean;
}

export async function openStore(input: StoreInput): Promise<GitStore> {
  const git = makeRepository(input.folder);
  const draft: Draft = {
    input,
    reader: new Reader(),
    mark: `-${randomBytes(12).toString('hex')}`,
    facts: new Map(),
    missing: new Set(),
    before: { name: 'before', lines: [], files: new Set() },
    after: { name: 'after', lines: [], files: new Set() },
    blobs: 0,
    hasCrLf: false,
  };
  try {
    await fastImport(git, { instructions: instructions(draft) });
  } finally {
    draft.reader.close();
  }
  const { facts, missing, mark } = draft;
  return { git, changes: input.changes, facts, missing, mark, hasCrLf: draft.hasCrLf };
}

/** Git allocates 256 KiB per object; a C library that returns them to the kernel each time takes five times as long. */
const keepMemory = { MALLOC_TRIM_THRESHOLD_: `${256 * 1024 ** 2}`, MALLOC_TOP_PAD_: `${16 * 1024 ** 2}` };

/** Without `git init`: no templates, and no defaults of the installed git. */
function makeRepository(folder: string): Git {
  const path = join(folder, 'store.git');
  mkdirSync(join(path, 'objects'), { recursive: true, mode: 0o700 });
  mkdirSync(join(path, 'refs'));
  writeFileSync(join(path, 'HEAD'), 'ref: refs/heads/none\n');
  writeFileSync(
    join(path, 'config'),
    '[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n\tcompression = 0\n\tfsync = none\n\tquotePath = true\n' +
      '\tprotectNTFS = false\n\tprotectHFS = false\n[fastimport]\n\tunpackLimit = 0\n[gc]\n\tauto = 0\n',
  );
  return { cwd: path, args: [`--git-dir=${path}`], env: keepMemory };
}

function* instructions(draft: Draft): Generator<Buffer> {
  for (const change of draft.input.changes) {
    draft.input.signal?.throwIfAborted();
    yield* blobsOf(draft, change);
  }
  for (const { name, lines } of [draft.before, draft.after]) {
    const head = `commit refs/carrel/${name}\ncommitter carrel <> 0 +0000\ndata 0\n`;
    yield Buffer.from(head + lines.join(''), 'latin1');
  }
  yield Buffer.from('done\n');
}

function* blobsOf(draft: Draft, change: Change): Generator<Buffer> {
  const { path } = change;
  const before = holdable(change.before);
  const after = holdable(change.after);
  if ((before && isBelowFile(draft.before, path)) || (after && isBelowFile(draft.after, path))) {
    draft.missing.add(path);
    return;
  }
  const spill = draft.input.whole === true ? join(draft.input.folder, 'spill') : null;
  const [oldSpill, newSpill] = spill === null ? [null, null] : [`${spill}.before`, `${spill}.after`];
  const old = before && load(draft.reader, { path, spill: oldSpill, entry: before, content: change.beforeContent });
  const now = after && load(draft.reader, { path, spill: newSpill, entry: after, content: change.afterContent });
  const chosen = choose(draft, change, old, now);
  if (chosen.before !== null) yield* blob(draft, draft.before, path, before!, chosen.before);
  if (chosen.after !== null) yield* blob(draft, draft.after, path, after!, chosen.after);
  if (spill !== null) for (const side of ['before', 'after']) rmSync(`${spill}.${side}`, { force: true });
}

function holdable(entry: Entry | null): Entry | null {
  return entry?.type === 'file' || entry?.type === 'link' ? entry : null;
}

/** True only if the tree changed while it was read. */
function isBelowFile({ files }: Side, path: BytePath): boolean {
  for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1))
    if (files.has(path.slice(0, end))) return true;
  return false;
}

type Pair = { readonly before: StoredData | null; readonly after: StoredData | null };

/** The bytes of each side, or a placeholder. If one side of a file is not shown, there are facts about both. */
function choose(draft: Draft, change: Change, before: Loaded | null, after: Loaded | null): Pair {
  const sides = [before, after].filter((side) => side !== null);
  draft.hasCrLf ||= sides.some(hasCrLf);
  const bytes = { before: before?.data ?? null, after: after?.data ?? null };
  if (sides.every(({ fact }) => fact.kind === 'text')) return bytes;
  if (draft.input.whole === true) {
    if (sides.every(({ data }) => data !== null)) return bytes;
    draft.missing.add(change.path);
    return { before: null, after: null };
  }
  draft.facts.set(change.path, {
    before: change.before?.type === 'file' && before ? hashed(before) : null,
    after: change.after?.type === 'file' && after ? hashed(after) : null,
  });
  return { before: before && shown(before, change, 'before'), after: after && shown(after, change, 'after') };
}

function shown(side: Loaded, { path }: Change, name: string): StoredData {
  return Buffer.isBuffer(side.data) ? side.data : placeholderContent(side.fact, path, name);
}

function* blob(draft: Draft, side: Side, path: BytePath, entry: Entry, data: StoredData): Generator<Buffer> {
  draft.blobs += 1;
  side.lines.push(`M ${gitMode(entry)} :${draft.blobs} ${quoted(marked(path, draft.mark))}\n`);
  side.files.add(path);
  yield Buffer.from(`blob\nmark :${draft.blobs}\ndata ${sizeOf(data)}\n`);
  yield* pieces(data);
  yield newline;
}

const newline = Buffer.from('\n');

/** Git refuses a component `.git` in a path, in upper or lower case. */
const gitPart = /(^|\/)(\.git)(?=\/|$)/gi;

function marked(path: BytePath, mark: string): BytePath {
  return path.includes('.') ? path.replace(gitPart, `$1$2${mark}`) : path;
}

export function isInsideGit(path: BytePath): boolean {
  return path.search(gitPart) >= 0;
}
