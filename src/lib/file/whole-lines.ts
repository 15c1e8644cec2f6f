/** Reads the lines of an open file in batches, without their newlines. Bytes after the last newline are left out. */
import type { FileHandle } from 'node:fs/promises';

const chunkBytes = 64 * 1024;
const newline = 0x0a;

export interface Span {
  readonly from: number;
  readonly to: number;
  /** Reading ends at the first longer line. */
  readonly maxLineBytes: number;
}

export async function* wholeLines(file: FileHandle, { from, to, maxLineBytes }: Span): AsyncGenerator<Buffer[]> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for (let at = from; at < to; ) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, Math.min(chunkBytes, to - at), at);
    if (bytesRead === 0) return;
    at += bytesRead;
    const chunk = buffer.subarray(0, bytesRead);
    const end = chunk.lastIndexOf(newline);
    const isWithin = restBytes + (end < 0 ? bytesRead : chunk.indexOf(newline)) <= maxLineBytes;
    if (!isWithin) return;
    if (end >= 0) {
      const lines = split(Buffer.concat([...rest, chunk.subarray(0, end)]));
      const good = lines.findIndex(({ length }) => length > maxLineBytes);
      yield good < 0 ? lines : lines.slice(0, good);
      if (good >= 0) return;
      [rest, restBytes] = [[], 0];
    }
    rest.push(chunk.subarray(end + 1));
    restBytes += bytesRead - end - 1;
  }
}

function split(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, start)) {
    lines.push(bytes.subarray(start, at));
    start = at + 1;
  }
  lines.push(bytes.subarray(start));
  return lines;
}
