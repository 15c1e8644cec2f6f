/** Locks a room for one process, until that process closes the room or ends (R6). */
import {
  closeSync,
  constants,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../lib/file/file.ts';
import { tryLock } from '../../lib/sys/sys.ts';
import { Fault } from '../../model/fault.ts';

const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;
const lockName = '.carrel/lock';
const ownDescriptors = '/proc/self/fd';

/** Returns the function that unlocks the room. */
export function lockRoom(folder: string): () => void {
  const path = join(folder, lockName);
  const fd = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  if (!tryLock(fd)) {
    closeSync(fd);
    throw heldBy(folder, readFileSync(path, 'utf8').trim());
  }
  const note = `${process.pid}\n`;
  writeSync(fd, note, 0);
  ftruncateSync(fd, note.length);
  return () => closeSync(fd);
}

/** Unlocks a room whose thread has ended without closing it: its descriptors stay open in the process. */
export function unlockRoom(folder: string): void {
  try {
    const path = join(realpathSync(folder), lockName);
    for (const fd of readdirSync(ownDescriptors)) if (targetOf(fd) === path) closeSync(Number(fd));
  } catch (error) {
    // Without the folder there is nothing to lock.
    if (!isErrno(error, 'ENOENT')) throw error;
  }
}

function targetOf(fd: string): string | null {
  try {
    return readlinkSync(join(ownDescriptors, fd));
  } catch {
    // The descriptor was closed meanwhile, ignoring.
    return null;
  }
}

function heldBy(folder: string, pid: string): Fault {
  return new Fault('conflict', `the room ${folder} is open in another process, ${pid === '' ? 'unknown' : pid}`, {
    hint: 'One daemon processes a room. Use that daemon, or end it with: carrel down',
  });
}
