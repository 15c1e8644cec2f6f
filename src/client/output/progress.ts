import type { Output } from './output.ts';

const faces = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const quietMs = 1000;
const turnMs = 100;

/** Waits for the work; after a second it shows progress on a terminal. */
export async function during<T>(out: Output, text: string | (() => string), work: Promise<T>): Promise<T> {
  if (!out.interactive) return work;
  const began = Date.now();
  let turn = 0;
  const timer = setInterval(() => {
    if (Date.now() - began < quietMs) return;
    const now = typeof text === 'string' ? text : text();
    out.progress(`${faces[turn++ % faces.length]} ${now}`, ` (${Math.floor((Date.now() - began) / 1000)}s)`);
  }, turnMs);
  const clear = () => {
    clearInterval(timer);
    if (turn > 0) out.progress('');
  };
  process.once('exit', clear);
  try {
    return await work;
  } finally {
    process.off('exit', clear);
    clear();
  }
}
