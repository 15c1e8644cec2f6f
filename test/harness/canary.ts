/** Planted values that a test searches for: as they are, and as programs commonly encode them. */
import { readdirSync, readFileSync } from 'node:fs';
import { filesBelow } from './traces.ts';

export class Canary {
  readonly #forms: readonly string[];

  constructor(...values: readonly string[]) {
    this.#forms = values.flatMap((value) => [value, hex(value), ...base64(value)]);
  }

  isIn(text: string): boolean {
    return this.#forms.some((form) => text.includes(form));
  }

  filesBelow(folder: string): string[] {
    return filesBelow(folder).filter((path) => this.isIn(textOf(path)));
  }

  /** Pids of other processes of the machine that show a value in what others can read of them. */
  processes(): string[] {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
    const files = ['environ', 'cmdline', 'mountinfo'];
    return pids.filter((pid) => files.some((file) => this.isIn(textOf(`/proc/${pid}/${file}`))));
  }
}

function hex(value: string): string {
  return Buffer.from(value).toString('hex');
}

/** Three bytes make four characters, so the encoding depends on the number of bytes before the value. */
function base64(value: string): string[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]).toString('base64');
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + value.length) * 8) / 6));
  });
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
