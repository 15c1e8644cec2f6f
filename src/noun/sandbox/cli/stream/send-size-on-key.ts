/** If several clients show one terminal, the program inside gets the size of the client that typed last. */
import type { Readable, Writable } from 'node:stream';
import { sendSize } from '../../../../client/stream/terminal.ts';

/** The size is sent at most once a second, because each change is a request to the engine. */
const pauseMs = 1000;

/**
 * What a terminal sends by itself as answers to a program: attributes, position, modes, sizes, colours, keyboard
 * protocol.
 */
const reply = /^\x1b(?:\[[?>]?[\d;]*\$?[cnRyt]|\[\?[\d;]*u|\[[IO]|[\]P_])/;

/** Sends the size before a key. Call it before the listener that sends the keys is added. */
export function sendSizeOnKey(socket: Writable, keys: Readable, send = sendSize): () => void {
  let sentAt = performance.now();
  const sendBeforeKey = (chunk: Buffer) => {
    const now = performance.now();
    if (now - sentAt < pauseMs || reply.test(chunk.toString('latin1', 0, 32))) return;
    sentAt = now;
    send(socket);
  };
  keys.on('data', sendBeforeKey);
  return () => keys.off('data', sendBeforeKey);
}
