/** Reserves space for the SQLite file, its log and the index of the log. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Database } from 'better-sqlite3';
import { isErrno } from '../../lib/file/file.ts';
import { allocate } from '../../lib/sys/sys.ts';
import type { StoreOptions } from './store.ts';

const preallocated = { mostBytes: 1024 ** 2, leastBytes: 64 * 1024 };
/** At most one part in this many of the free space is reserved. */
const share = 16;

/**
 * Makes the file and its log as large as many small writes need, so that these need no new space: a value that is
 * written and then deleted leaves free pages in the file, and a log that is overwritten from its beginning.
 */
export function preallocate(db: Database, path: string): void {
  const { bavail, bsize } = statfsSync(dirname(path));
  const bytes = Math.min(preallocated.mostBytes, Math.floor((bavail * bsize) / share));
  if (bytes < preallocated.leastBytes) return;
  const remove = "DELETE FROM rows WHERE kind = 'space'";
  try {
    db.exec(`${remove};
      INSERT INTO rows (seq, kind, id, owner, name, revision, value)
        VALUES (-1, 'space', '', '', '', -1, hex(zeroblob(${Math.floor(bytes / 2)})));
      ${remove};
      PRAGMA wal_checkpoint(PASSIVE)`);
  } catch {
    // There is no room for it, ignoring: then writes need new space.
  }
}

/**
 * SQLite removes the files of its log when the last connection closes, and the next one would need space for them. A
 * second link keeps them meanwhile, and the log counts as empty: all of it is in the file by then.
 */
export function closeKeepingLog(path: string, close: () => void): void {
  const held = [`${path}-wal`, `${path}-shm`].map((name) => ({ name, other: `${name}.kept` }));
  for (const { name, other } of held) giveOtherName(name, other);
  close();
  for (const { name, other } of held) {
    if (existsSync(name) || !existsSync(other)) rmSync(other, { force: true });
    else if (name.endsWith('-wal')) restoreEmpty(other, name);
    else renameSync(other, name);
  }
}

function giveOtherName(name: string, other: string): void {
  try {
    rmSync(other, { force: true });
    linkSync(name, other);
  } catch {
    // The filesystem has no hard links, ignoring: then the next connection needs space.
  }
}

const walHeaderBytes = 32;

/** Restores a log as an empty one: a log without a header is empty. */
function restoreEmpty(kept: string, name: string): void {
  const fd = openSync(kept, 'r+');
  try {
    writeSync(fd, Buffer.alloc(walHeaderBytes), 0, walHeaderBytes, 0);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(kept, name);
}

/** Enough for four thousand pages of the log, which is checkpointed at one thousand. */
const indexBytes = 32 * 1024;

/**
 * Allocates every page of the index of the log. SQLite maps that file and leaves holes if blocks are smaller than
 * pages: writing to a hole on a full disk ends the process by SIGBUS. The descriptor is closed after the connection,
 * because closing it drops the locks that SQLite has on the file.
 */
export function allocateIndex(path: string, db: Database, options: StoreOptions): number {
  const fd = openSync(`${path}-shm`, 'r+');
  try {
    allocateWithReserve(fd, options);
    return fd;
  } catch (error) {
    db.close();
    closeSync(fd);
    throw error;
  }
}

/**
 * Allocates the whole index before any connection, because of the locks. The first connection truncates the index and
 * takes its blocks again at once. A process that ended before `allocateIndex` leaves an index with holes, which has too
 * few blocks: every later process would end by SIGBUS, too.
 */
export function fillIndex(path: string, options: StoreOptions): void {
  const index = `${path}-shm`;
  if (!existsSync(index)) return;
  const fd = openSync(index, 'r+');
  try {
    allocateWithReserve(fd, options);
  } finally {
    closeSync(fd);
  }
}

function allocateWithReserve(fd: number, { giveUpSpace = () => false }: StoreOptions): void {
  for (;;) {
    try {
      allocate(fd, indexBytes);
      return;
    } catch (error) {
      if (!isErrno(error, 'ENOSPC') && !isErrno(error, 'EDQUOT')) return; // This filesystem cannot, ignoring.
      if (!giveUpSpace()) throw error;
    }
  }
}
