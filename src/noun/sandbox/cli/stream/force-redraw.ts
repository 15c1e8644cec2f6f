/** Makes a program in a terminal redraw its screen: its terminal gets another size, and then the right one. */
import type { Writable } from 'node:stream';
import { terminalSize } from '../../../../client/stream/terminal.ts';
import { encodeJson } from '../../../../lib/wire/stream.ts';
import type { TerminalSize } from '../../../../model/engine.ts';

/**
 * The other size stays for `least`, because a program that sleeps briefly only notices the last size. A slow program
 * gets up to `most` to draw.
 */
export const otherSizeMs = { least: 200, most: 3000 };

/**
 * The caller calls the returned function at each output. The right size is sent after the first output, or after
 * `most`.
 */
export function forceRedraw(socket: Writable, sizeNow: () => TerminalSize = terminalSize): () => void {
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
