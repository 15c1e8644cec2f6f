/** Puts the content of files and links into a repository, in one go. */
import { toText } from '../../model/byte-path.ts';
import { Fault } from '../../model/fault.ts';
import { Reader } from '../tree/reader.ts';
import type { BranchChange } from './branch.ts';
import { feed, type Git, gitFault, startGit } from './git.ts';
import { type Data, load, pieces, sizeOf } from './stored-content.ts';

/** The hash of each, in the same order; an empty one where there is nothing. Large files pass through `spill`. */
export async function writeBlobs(git: Git, changes: readonly BranchChange[], spill: string): Promise<string[]> {
  const reader = new Reader();
  const args = ['fast-import', '--quiet', '--done'];
  const child = startGit(git, args);
  const printed: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => printed.push(chunk));
  try {
    await feed(child.stdin, instructions(reader, changes, spill));
  } catch (error) {
    child.kill();
    await child.ended;
    throw error;
  } finally {
    reader.close();
  }
  const { exitCode, stderr, fault } = await child.ended;
  if (fault !== null) throw fault;
  if (exitCode !== 0) throw gitFault(args, stderr);
  const oids = Buffer.concat(printed).toString('latin1').split('\n').values();
  return changes.map(({ entry }) => (entry === null ? '' : (oids.next().value ?? '')));
}

function* instructions(reader: Reader, changes: readonly BranchChange[], spill: string): Generator<Buffer> {
  for (const change of changes) {
    const data = dataOf(reader, change, spill);
    if (data === null) continue;
    yield Buffer.from(`blob\nmark :1\ndata ${sizeOf(data)}\n`);
    yield* pieces(data);
    yield Buffer.from('\nget-mark :1\n');
  }
  yield Buffer.from('done\n');
}

function dataOf(reader: Reader, { path, entry, content }: BranchChange, spill: string): Data | null {
  if (entry === null) return null;
  if (content?.from === 'bytes') return Buffer.from(content.bytes);
  const from = content ?? { path, content: null };
  const { data } = load(reader, { path: from.path, entry, content: from.content, spill });
  if (data === null) throw new Fault('conflict', `${toText(path)} went away while it was being read`);
  return data;
}
