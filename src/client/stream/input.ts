/** Sends stdin, from a person or a pipe, into a sandbox. */
import { fstatSync, readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { encodeFrame } from '../../lib/wire/stream.ts';

const endOfInput = encodeFrame('stdin', Buffer.alloc(0));
/** A terminal has no end of input; Ctrl-D on an empty line means it. */
const endKey = encodeFrame('stdin', Buffer.of(0x04));

/** Sends a source as stdin frames with back-pressure, then the end of input. The returned function stops it. */
export function sendInput(socket: Writable, source: Readable, terminal = false): () => void {
  const resume = () => source.resume();
  const data = (chunk: Buffer) => {
    if (socket.destroyed || socket.write(encodeFrame('stdin', chunk))) return;
    source.pause();
    socket.once('drain', resume);
  };
  const end = () => {
    if (!socket.destroyed) socket.write(terminal ? endKey : endOfInput);
  };
  // Reading a terminal that hung up is an error: it counts as the end of input.
  source.on('data', data).once('end', end).once('error', end);
  return () => {
    source.off('data', data).off('end', end);
    socket.off('drain', resume);
    source.pause();
  };
}

/** Whether stdin can have input: a pipe, a file, a socket or a terminal, but not /dev/null. */
export function hasInput(): boolean {
  try {
    const stat = fstatSync(0);
    return stat.isFIFO() || stat.isFile() || stat.isSocket() || (process.stdin.isTTY === true && inForeground());
  } catch {
    return false;
  }
}

/** The kernel stops a background job that reads the terminal, so such a job must not read it. */
export function inForeground(): boolean {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return group === foreground;
}
