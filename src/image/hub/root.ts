/** A root filesystem put together from files of this machine: its checksum, and the archive that an engine imports. */
import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { Fault } from '../../model/fault.ts';
import { foldersOf } from '../context/pack.ts';
import { header, padding } from '../context/tar.ts';

/** Paths have no leading slash. `from`: a file of this machine. */
export type RootMember =
  | { readonly path: string; readonly mode: number; readonly from: string }
  | { readonly path: string; readonly mode: number; readonly text: string }
  | { readonly path: string; readonly target: string };

export async function checksumOfRoot(members: readonly RootMember[]): Promise<string> {
  const hash = createHash('sha256');
  for (const member of members) {
    hash.update(JSON.stringify(member));
    if ('from' in member) for await (const chunk of createReadStream(member.from)) hash.update(chunk as Buffer);
  }
  return hash.digest('hex');
}

/** `emptyFolders` are made besides those of the members. */
export async function* archiveOfRoot(
  members: readonly RootMember[],
  emptyFolders: readonly string[],
): AsyncGenerator<Buffer> {
  const folders = new Set(
    [...members, ...emptyFolders.map((path) => ({ path: `${path}/` }))].flatMap(({ path }) => foldersOf(path)),
  );
  for (const path of folders) yield* header({ ...entry(path), kind: 'folder', mode: 0o755 });
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
  for await (const chunk of createReadStream(from)) {
    bytes += (chunk as Buffer).length;
    yield chunk as Buffer;
  }
  if (bytes !== size) throw new Fault('conflict', `${from} changed while it was read`, { hint: 'Try again.' });
  yield padding(size);
}

function entry(path: string) {
  return { name: Buffer.from(path), sizeBytes: 0, target: Buffer.alloc(0) };
}
