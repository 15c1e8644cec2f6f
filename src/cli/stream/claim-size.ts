/** With several viewers of one terminal, the program inside has the size of the one whose user typed last. */
import type { Readable, Writable } from 'node:stream';
import { sendSize } from './terminal.ts';

/** A key does not cost a request to the engine: at most one a second does. */
const pauseMs = 1000;

/** A terminal answers the questions of a program by itself: attributes, position, modes, sizes, colours, keyboard protocol. */
const reply = /^\x1b(?:\[[?>]?[\d;]*\$?[cnRyt]|\[\?[\d;]*u|\[[IO]|[\]P_])/;

/** Sends the size before a key. Is to be called before the keys are sent. */
export function claimSize(socket: Writable, keys: Readable, send = sendSize): () => void {
  let sentAt = performance.now();
  const claim = (chunk: Buffer) => {
    const now = performance.now();
    if (now - sentAt < pauseMs || reply.test(chunk.toString('latin1', 0, 32))) return;
    sentAt = now;
    send(socket);
  };
  keys.on('data', claim);
  return () => keys.off('data', claim);
}
