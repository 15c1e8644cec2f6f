/** Makes a program in a terminal draw its screen again: it gets another size, and then the right one. */
import type { Writable } from 'node:stream';
import { encodeJson } from '../../api/stream.ts';
import type { TerminalSize } from '../../model/sandbox.ts';
import { terminalSize } from './terminal.ts';

/** A program that sleeps for a moment notices the last size only. One that is slow, or waits for its engine, has not drawn yet after that. */
export const otherSizeMs = { least: 200, most: 3000 };

/** The answer is to be called at each output: the right size follows the drawing, or comes when there is none. */
export function askToDraw(socket: Writable, sizeNow: () => TerminalSize = terminalSize): () => void {
  const { rows, columns } = sizeNow();
  const began = performance.now();
  const restore = () => {
    if (!socket.destroyed) socket.write(encodeJson('resize', sizeNow()));
  };
  socket.write(encodeJson('resize', { rows: Math.max(1, rows - 1), columns }));
  let timer = setTimeout(restore, otherSizeMs.most).unref();
  let isDrawn = false;
  return () => {
    if (isDrawn) return;
    isDrawn = true;
    const waitedMs = performance.now() - began;
    if (waitedMs >= otherSizeMs.most) return;
    clearTimeout(timer);
    timer = setTimeout(restore, Math.max(0, otherSizeMs.least - waitedMs)).unref();
  };
}
