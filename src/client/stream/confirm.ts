/** Asks the user at the terminal. */
import { createInterface } from 'node:readline';
import type { Output } from '../output/output.ts';

export function canAsk(out: Output): boolean {
  return out.interactive && process.stdin.isTTY === true;
}

/** Only `y` or `yes` means yes; the end of input means no. */
export async function confirm(question: string): Promise<boolean> {
  process.stderr.write(`${question} [y/N] `);
  // With `terminal: false`, Ctrl-C still sends a signal.
  const lines = createInterface({ input: process.stdin, terminal: false });
  try {
    const answer = await new Promise<string | null>((resolve) => {
      lines.once('line', resolve).once('close', () => resolve(null));
    });
    if (answer === null) process.stderr.write('\n');
    return answer !== null && isYes(answer);
  } finally {
    lines.close();
  }
}

export function isYes(answer: string): boolean {
  return /^\s*y(es)?\s*$/i.test(answer);
}
