/** A connection from inside to the proxy's port, until its protocol and target are known. */
import type { Socket } from 'node:net';
import type { Endpoint } from '../../../../model/host.ts';
import type { Attached } from '../attached/attached.ts';
import type { Attempt } from '../attached/attempt.ts';

export interface Inbound {
  readonly attached: Attached;
  readonly socket: Socket;
  /** The target of the tunnel that the connection is in: requests may name no other. Null: it is in no tunnel. */
  readonly fixed: Endpoint | null;
  /** An open connection to that target, which the first request uses. */
  spare: { readonly attempt: Attempt; readonly socket: Socket } | null;
}

/** The time that a client has to read the last bytes and close. */
const lingerMs = 2000;

/** Sends these bytes and ends the connection. */
export function endWith(socket: Socket, bytes: string | Buffer): void {
  socket.end(bytes);
  linger(socket);
}

/**
 * Reads and drops further bytes of the client: closing a connection with unread bytes resets it, and the client loses
 * the answer.
 */
export function linger(socket: Socket): void {
  socket.resume();
  const late = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(late));
}

/** Reads the first bytes and puts them back. Null: the other side ends first, or the signal aborts. */
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
