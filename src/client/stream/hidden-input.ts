/** Reads a line from the terminal without showing it. */
import type { Readable } from 'node:stream';
import { Fault } from '../../model/fault.ts';
import type { Output } from '../output/output.ts';
import { canAsk } from './confirm.ts';
import { rawKeys } from './terminal.ts';

const keys = { interrupt: 0x03, endOfInput: 0x04, backspace: 0x08, lineFeed: 0x0a, return: 0x0d, kill: 0x15 } as const;
const rubout = 0x7f;

/** The line that was typed so far. */
class UnseenLine {
  #bytes: number[] = [];
  #ended = false;

  /** Takes keys; returns true when the line is complete. */
  type(chunk: Uint8Array): boolean {
    for (const key of chunk) {
      if (this.#ended) throw severalLines();
      this.#press(key);
    }
    return this.#ended;
  }

  get value(): Buffer {
    return Buffer.from(this.#bytes);
  }

  #press(key: number): void {
    if (key === keys.interrupt) throw new Fault('cancelled', 'interrupted');
    if (key === keys.lineFeed || key === keys.return || key === keys.endOfInput) this.#ended = true;
    else if (key === keys.backspace || key === rubout) this.#rubOut();
    else if (key === keys.kill) this.#bytes = [];
    else this.#bytes.push(key);
  }

  /** Deletes the last character: all bytes of a UTF-8 character but the first begin with the bits 10. */
  #rubOut(): void {
    let last = this.#bytes.pop();
    while (last !== undefined && (last & 0xc0) === 0x80) last = this.#bytes.pop();
  }
}

export async function askHidden(question: string, out: Output): Promise<Buffer> {
  if (!canAsk(out)) throw noTerminal();
  // The terminal is set before the question is printed, because the user may type at once.
  const giveBack = rawKeys();
  try {
    process.stderr.write(question);
    return await readLine(process.stdin);
  } finally {
    giveBack();
    process.stderr.write('\n');
  }
}

/** Reads by events, because the end of an async iteration would close the terminal before it is restored. */
export function readLine(source: Readable): Promise<Buffer> {
  const line = new UnseenLine();
  return new Promise<Buffer>((resolve, reject) => {
    source.once('error', reject).once('end', () => resolve(line.value));
    source.on('data', (chunk: Buffer) => {
      try {
        if (line.type(chunk)) resolve(line.value);
      } catch (error) {
        reject(error);
      }
    });
  }).finally(() => source.removeAllListeners('data').pause());
}

function severalLines(): Fault {
  return new Fault('invalid', 'a value of several lines cannot be typed', { hint: 'Pipe it in, or use --file FILE.' });
}

function noTerminal(): Fault {
  return new Fault('invalid', 'stdin is a terminal, but stderr is not, so the prompt would not be seen', {
    hint: 'Pipe it in, or use --file FILE.',
  });
}
