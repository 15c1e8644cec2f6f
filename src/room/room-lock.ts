/** Locks a room for one process, until that process closes the room or ends (R6). */
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { tryLock } from '../lib/sys.ts';
import { Fault } from '../model/fault.ts';

const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;

/** Returns the function that unlocks the room. */
export function lockRoom(folder: string): () => void {
  const path = join(folder, '.carrel/lock');
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

function heldBy(folder: string, pid: string): Fault {
  return new Fault('conflict', `the room ${folder} is open in another process, ${pid === '' ? 'unknown' : pid}`, {
    hint: 'One daemon processes a room. Use that daemon, or end it with: carrel down',
  });
}
