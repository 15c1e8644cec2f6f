/**
 * The state of a swarm as a file of its project, for scripts that read one. Sandboxes may be able to write there: folders are
 * entered one by one, no link is followed, and only a state file is ever replaced, whole.
 */
import { randomBytes } from 'node:crypto';
import { fstatSync, fsyncSync, renameSync, rmSync } from 'node:fs';
import { Anchor, within } from '../../../lib/file/anchor.ts';
import { type BoundedFile, isRefusal, ReadRefusal, readBounded } from '../../../lib/file/bounded-read.ts';
import { isErrno } from '../../../lib/file/file.ts';
import { makeFile } from '../../../lib/file/make-file.ts';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';

const maxBytes = 64 * 1024 ** 2;
/** All accounts may read it, as the rest of a project. */
const mode = 0o644;

/**
 * `path` is relative to the folder of the project. Runs in a thread: another program may have made the old file as
 * large as the limit.
 */
export function writeStateFile(project: string, path: string, text: string): void {
  const names = path.split('/');
  const name = names.pop()!;
  try {
    enter(Anchor.reach(project), names, (folder) => {
      refuseOther(folder, name, path);
      replace(folder, name, Buffer.from(text));
    });
  } catch (error) {
    if (isErrno(error, 'ELOOP') || isErrno(error, 'ENOTDIR')) throw throughLink(path);
    if (isErrno(error, 'ENOENT')) {
      throw new Fault('not_found', `the folder of ${printable(path)} is not there`, { hint: 'Make it first.' });
    }
    throw error;
  }
}

function enter(folder: Anchor, names: readonly string[], work: (folder: Anchor) => void): void {
  const [next, ...rest] = names;
  within(folder, () => (next === undefined ? work(folder) : enter(folder.enter(next), rest, work)));
}

/** Refuses to replace a file that is not a state file. */
function refuseOther(folder: Anchor, name: string, path: string): void {
  const file = readOther(folder, name, path);
  if (file !== null && !isState(file.bytes.toString('utf8'))) throw notState(path);
}

function readOther(folder: Anchor, name: string, path: string): BoundedFile | null {
  try {
    return readBounded(folder.at(name), maxBytes);
  } catch (error) {
    if (isRefusal(error, 'link')) throw throughLink(path);
    throw error instanceof ReadRefusal ? notState(path) : error;
  }
}

function notState(path: string): Fault {
  return new Fault('conflict', `${printable(path)} is there and is not the state of a swarm`, {
    hint: 'Name another file.',
  });
}

function throughLink(path: string): Fault {
  return new Fault('denied', `${printable(path)} leads through a link`);
}

function isState(text: string): boolean {
  if (text.trim() === '') return true;
  try {
    const value = JSON.parse(text) as { swarmId?: unknown; containers?: unknown } | null;
    return typeof value?.swarmId === 'string' && Array.isArray(value.containers);
  } catch {
    return false;
  }
}

/** Replaces the file. Its owner is the owner of the folder. */
function replace(folder: Anchor, name: string, bytes: Buffer): void {
  const staged = `.carrel-state-${randomBytes(6).toString('hex')}`;
  const { uid, gid } = fstatSync(folder.fd);
  makeFile(folder.at(staged), { bytes, mode, ...(uid === process.getuid!() ? {} : { owner: { uid, gid } }) });
  try {
    renameSync(folder.at(staged), folder.at(name));
    fsyncSync(folder.fd);
  } catch (error) {
    rmSync(folder.at(staged), { force: true });
    throw error;
  }
}
