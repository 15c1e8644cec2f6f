/** What a person or a pipe gives us, on its way into a sandbox. */
import { fstatSync, readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { encodeFrame } from '../../api/stream.ts';

const endOfInput = encodeFrame('stdin', Buffer.alloc(0));
/** A terminal has no end of input: a key says it, alone on its line. */
const endKey = encodeFrame('stdin', Buffer.of(0x04));

/** Sends a source as stdin frames at the pace of the socket, then the end of input. The returned function lets go. */
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
  // A terminal that hung up reads as an error: there is nothing more to come either way.
  source.on('data', data).once('end', end).once('error', end);
  return () => {
    source.off('data', data).off('end', end);
    socket.off('drain', resume);
    source.pause();
  };
}

/** Whether stdin has something to say: a pipe, a file, or a person. /dev/null has not. */
export function hasInput(): boolean {
  try {
    const stat = fstatSync(0);
    return stat.isFIFO() || stat.isFile() || stat.isSocket() || (process.stdin.isTTY === true && inForeground());
  } catch {
    return false;
  }
}

/** A job in the background that reads the terminal is stopped by the kernel, so it must not. */
export function inForeground(): boolean {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return group === foreground;
}
