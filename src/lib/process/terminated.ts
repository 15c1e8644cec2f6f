/**
 * Names for C functions: with a zero byte at the end, in buffers that are reused, since allocating one takes longer
 * than most system calls.
 */
import { type BytePath, toBytes } from '../../model/byte-path.ts';

const maxPathBytes = 4096;
const [oneName, otherName] = [Buffer.alloc(maxPathBytes + 1), Buffer.alloc(maxPathBytes + 1)];

/** Valid until the next call. A string has one character per byte. */
export function terminated(name: Uint8Array | BytePath): Buffer {
  return copied(name, oneName);
}

/** Like `terminated`, for the second name of a call. */
export function terminatedSecond(name: Uint8Array | BytePath): Buffer {
  return copied(name, otherName);
}

function copied(name: Uint8Array | BytePath, buffer: Buffer): Buffer {
  if (name.length > maxPathBytes)
    return Buffer.concat([typeof name === 'string' ? toBytes(name) : name, Buffer.alloc(1)]);
  if (typeof name === 'string') buffer.write(name, 'latin1');
  else buffer.set(name);
  buffer[name.length] = 0;
  return buffer;
}
