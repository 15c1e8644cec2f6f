/** Reads of files that another process may be writing: the size that `stat` reports is no bound for what a read returns. */
import { readSync } from 'node:fs';

const chunkBytes = 64 * 1024;

/** The first bytes of an open file, at most so many, whatever it grows to meanwhile. */
export function readUpTo(fd: number, most: number): Buffer {
  const chunks: Buffer[] = [];
  let left = most;
  while (left > 0) {
    const chunk = Buffer.alloc(Math.min(chunkBytes, left));
    const read = readSync(fd, chunk, 0, chunk.length, null);
    if (read === 0) break;
    chunks.push(chunk.subarray(0, read));
    left -= read;
  }
  return Buffer.concat(chunks);
}
