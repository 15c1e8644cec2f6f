/** A root filesystem put together from files of this machine: its checksum, and the archive that an engine imports. */
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { Fault } from '../../../model/fault.ts';
import { foldersOf } from '../context/pack.ts';
import { header, padding } from '../context/tar.ts';

/** Paths have no leading slash. `from`: a file of this machine. */
export type RootMember =
  | { readonly path: string; readonly mode: number; readonly from: string }
  | { readonly path: string; readonly mode: number; readonly text: string }
  | { readonly path: string; readonly target: string };

export interface RootImage {
  readonly name: string;
  readonly members: readonly RootMember[];
  /** Folders besides those of the members. */
  readonly emptyFolders: readonly string[];
  /** Instructions of a Dockerfile that say how the image is started. */
  readonly settings: readonly string[];
}

/** Smaller files are read at once: there are thousands of them, and opening a stream costs more than reading one. */
const smallBytes = 256 * 1024;

export async function checksumOfRoot(members: readonly RootMember[]): Promise<string> {
  const hash = createHash('sha256');
  for (const member of members) {
    hash.update(JSON.stringify(member));
    if ('from' in member) for await (const chunk of contentOf(member.from)) hash.update(chunk);
  }
  return hash.digest('hex');
}

/**
 * `emptyFolders` are added to the folders of the members. Pieces are large, because the engine reads each from a
 * socket.
 */
export async function* archiveOfRoot(
  members: readonly RootMember[],
  emptyFolders: readonly string[],
): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const part of partsOf(members, emptyFolders)) {
    held.push(part);
    bytes += part.length;
    if (bytes < smallBytes) continue;
    yield Buffer.concat(held);
    [held, bytes] = [[], 0];
  }
  yield Buffer.concat(held);
}

async function* partsOf(members: readonly RootMember[], emptyFolders: readonly string[]): AsyncGenerator<Buffer> {
  const paths = [...members.map(({ path }) => path), ...emptyFolders.map((path) => `${path}/`)];
  for (const path of new Set(paths.flatMap(foldersOf))) {
    yield* header({ ...entry(path), kind: 'folder', mode: 0o755 });
  }
  for (const member of members) yield* archived(member);
  yield padding(0, 2);
}

async function* archived(member: RootMember): AsyncGenerator<Buffer> {
  if ('target' in member) {
    yield* header({ ...entry(member.path), kind: 'link', mode: 0o777, target: Buffer.from(member.target) });
  } else if ('text' in member) {
    const content = Buffer.from(member.text);
    yield* header({ ...entry(member.path), kind: 'file', mode: member.mode, sizeBytes: content.length });
    yield content;
    yield padding(content.length);
  } else yield* fileOf(member.path, member.mode, member.from);
}

async function* fileOf(path: string, mode: number, from: string): AsyncGenerator<Buffer> {
  const { size } = statSync(from);
  yield* header({ ...entry(path), kind: 'file', mode, sizeBytes: size });
  let bytes = 0;
  for await (const chunk of contentOf(from)) {
    bytes += chunk.length;
    yield chunk;
  }
  if (bytes !== size) throw new Fault('conflict', `${from} changed while it was read`, { hint: 'Try again.' });
  yield padding(size);
}

async function* contentOf(path: string): AsyncGenerator<Buffer> {
  if (statSync(path).size <= smallBytes) yield readFileSync(path);
  else yield* createReadStream(path, { highWaterMark: smallBytes }) as AsyncIterable<Buffer>;
}

function entry(path: string) {
  return { name: Buffer.from(path), sizeBytes: 0, target: Buffer.alloc(0) };
}
