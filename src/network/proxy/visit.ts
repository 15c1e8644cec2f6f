/** A connection from inside to the proxy's port, from its first byte until it is known what it is for. */
import type { Socket } from 'node:net';
import type { Endpoint } from '../../model/host.ts';
import type { Attached } from './attached.ts';
import type { Attempt } from './attempt.ts';

export interface Visit {
  readonly attached: Attached;
  readonly socket: Socket;
  /** Inside a tunnel: what it leads to, and all that may be asked for. */
  readonly fixed: Endpoint | null;
  /** A connection to there that nothing was sent on yet, for the first who needs one. */
  spare: { readonly attempt: Attempt; readonly socket: Socket } | null;
}

/** How long a client may take to hear the last words and hang up. */
const farewellMs = 2000;

/** The last words. */
export function farewell(socket: Socket, words: string | Buffer): void {
  socket.end(words);
  linger(socket);
}

/** What still comes is read and dropped: closed with bytes unread, a connection takes its last words back. */
export function linger(socket: Socket): void {
  socket.resume();
  const late = setTimeout(() => socket.destroy(), farewellMs);
  socket.once('close', () => clearTimeout(late));
}

/** The first bytes, or null when the other side ends first, or it is told not to wait any more. They are put back. */
export function firstBytes(
  socket: Socket,
  enough: (bytes: Buffer) => boolean,
  signal: AbortSignal,
): Promise<Buffer | null> {
  return new Promise((resolve) => {
    let have = Buffer.alloc(0);
    const settle = (bytes: Buffer | null) => {
      signal.removeEventListener('abort', ended);
      socket.off('readable', look).off('end', ended).off('close', ended);
      if (have.length > 0 && !socket.destroyed) socket.unshift(have);
      resolve(bytes);
    };
    const look = () => {
      for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
        have = Buffer.concat([have, chunk]);
      }
      if (have.length > 0 && enough(have)) settle(have);
    };
    const ended = () => settle(null);
    signal.addEventListener('abort', ended);
    socket.on('readable', look).on('end', ended).on('close', ended);
    look();
  });
}
