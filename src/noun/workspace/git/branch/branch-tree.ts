/** Reads the entries of a branch of the project's repository. */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type BytePath, fromBytes } from '../../../../model/byte-path.ts';
import { Fault } from '../../../../model/fault.ts';
import type { Entry } from '../../model/change.ts';
import { foldersAbove } from '../../tree/folders.ts';
import { gitFault, gitOutput, startGit } from '../git.ts';
import type { ProjectGit } from '../project-git.ts';
import type { BranchChange } from './write-blobs.ts';

/** Plain data. */
export interface ProjectBranch {
  readonly git: ProjectGit;
  readonly name: string;
  /** Its commit; null: it does not exist yet. */
  readonly tip: string | null;
  /** The parent of the next commit: the tip, or HEAD for a new branch; null: there is no commit yet. */
  readonly start: string | null;
}

interface TreeEntry {
  /** The mode as git writes it: 100644, 100755, 120000, or 160000 for a submodule. */
  readonly mode: string;
  readonly oid: string;
}

/** Everything but folders, by path. */
export type BranchTree = ReadonlyMap<BytePath, TreeEntry>;

export interface BranchEntry {
  readonly entry: Entry;
  /** The content of a file; null: it is larger than the limit, and `copyBlob` fetches it. */
  readonly content: Buffer | null;
  readonly oid: string;
}

export async function listTree(git: ProjectGit, commit: string | null): Promise<BranchTree> {
  if (commit === null) return new Map();
  const listed = fromBytes(await gitOutput(git, ['ls-tree', '-r', '-z', '--full-tree', commit]));
  return new Map(
    listed
      .split('\0')
      .filter((line) => line !== '')
      .map((line) => {
        const [mode = '', , oid = ''] = line.slice(0, line.indexOf('\t')).split(' ');
        return [line.slice(line.indexOf('\t') + 1), { mode, oid }];
      }),
  );
}

/** The most that is in memory at once, or one object if that is larger. */
const portionBytes = 64 * 1024 ** 2;

/** Yields the entries of the branch at these paths; an absent path has none. A submodule counts as a folder. */
export async function* branchEntries(
  { git, start }: ProjectBranch,
  paths: readonly BytePath[],
  maxBytes: number,
  atOnceBytes = portionBytes,
): AsyncGenerator<[BytePath, BranchEntry]> {
  const tree = await listTree(git, start);
  const folders = foldersAbove(tree.keys());
  const files = new Map<string, BytePath[]>();
  for (const path of paths) {
    const known = tree.get(path);
    if (known !== undefined && known.mode !== '160000') {
      if (!files.has(known.oid)) files.set(known.oid, []);
      files.get(known.oid)!.push(path);
    } else if (known !== undefined || folders.has(path)) yield [path, { entry: folder, content: null, oid: '' }];
  }
  for await (const [oid, blob] of readBlobs(git, files.keys(), maxBytes, atOnceBytes))
    for (const path of files.get(oid)!) yield [path, { ...entryOf(tree.get(path)!.mode, blob), oid }];
}

const folder: Entry = { type: 'folder', mode: 0o755, sizeBytes: 0, target: null };

/** Copies a file of any size into a new one. */
export async function copyBlob(git: ProjectGit, oid: string, file: Buffer): Promise<void> {
  const args = ['cat-file', 'blob', oid];
  const child = startGit(git, args);
  child.stdin.end();
  await pipeline(child.stdout, createWriteStream(file, { flags: 'wx' }));
  const { exitCode, stderr, fault } = await child.ended;
  if (fault !== null) throw fault;
  if (exitCode !== 0) throw gitFault(args, stderr);
}

function entryOf(mode: string, { sizeBytes, bytes }: Blob): Omit<BranchEntry, 'oid'> {
  if (mode !== '120000') {
    const entry: Entry = { type: 'file', mode: mode === '100755' ? 0o755 : 0o644, sizeBytes, target: null };
    return { entry, content: bytes };
  }
  if (bytes === null) throw new Fault('corrupt', 'a link on the branch has an invalid target');
  return { entry: { type: 'link', mode: 0, sizeBytes: 0, target: fromBytes(bytes) }, content: null };
}

interface Blob {
  readonly sizeBytes: number;
  readonly bytes: Buffer | null;
}

async function* readBlobs(
  git: ProjectGit,
  oids: Iterable<string>,
  maxBytes: number,
  atOnceBytes: number,
): AsyncGenerator<[oid: string, Blob]> {
  const sizes = parseHeaders(await gitOutput(git, ['cat-file', '--batch-check'], { input: lines(oids) }));
  const wanted = new Map<string, number>();
  for (const [oid, sizeBytes] of sizes) {
    if (sizeBytes <= maxBytes) wanted.set(oid, sizeBytes);
    else yield [oid, { sizeBytes, bytes: null }];
  }
  for (const portion of portions(wanted, atOnceBytes)) yield* readPortion(git, portion);
}

async function* readPortion(git: ProjectGit, oids: readonly string[]): AsyncGenerator<[oid: string, Blob]> {
  const output = await gitOutput(git, ['cat-file', '--batch'], { input: lines(oids) });
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf('\n', at);
    const [oid, sizeBytes] = header(output.toString('latin1', at, end));
    yield [oid, { sizeBytes, bytes: output.subarray(end + 1, end + 1 + sizeBytes) }];
    at = end + sizeBytes + 2;
  }
}

/** Bytes that git writes before and after an object. */
const frameBytes = 128;

/** Keeps the order. A portion exceeds the limit only if it is one object. */
export function portions(sizes: ReadonlyMap<string, number>, atOnceBytes: number): string[][] {
  const all: string[][] = [];
  let roomBytes = 0;
  for (const [oid, sizeBytes] of sizes) {
    roomBytes -= sizeBytes + frameBytes;
    if (roomBytes < 0) {
      all.push([]);
      roomBytes = atOnceBytes - sizeBytes - frameBytes;
    }
    all.at(-1)!.push(oid);
  }
  return all;
}

function lines(oids: Iterable<string>): string {
  return [...oids].map((oid) => `${oid}\n`).join('');
}

function parseHeaders(output: Buffer): Map<string, number> {
  return new Map(output.toString('latin1').split('\n').filter(Boolean).map(header));
}

function header(line: string): [oid: string, sizeBytes: number] {
  const found = /^([0-9a-f]+) blob (\d+)$/.exec(line);
  if (found === null) throw new Fault('corrupt', `the project's repository lacks an object: ${line}`);
  return [found[1]!, Number(found[2])];
}

/** A path of the tree that the changes would remove without naming it, or that belongs to a submodule; null: none. */
export function displacedBy(tree: BranchTree, changes: readonly BranchChange[]): BytePath | null {
  const named = new Set(changes.map(({ path }) => path));
  const staying = new Map([...tree].filter(([path]) => !named.has(path)));
  const folders = foldersAbove(staying.keys());
  for (const { path, entry } of changes) {
    if (tree.get(path)?.mode === '160000') return path;
    if (entry !== null && folders.has(path)) return path;
    for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) {
      const above = path.slice(0, end);
      if (staying.has(above) && (entry !== null || tree.get(above)?.mode === '160000')) return above;
    }
  }
  return null;
}
