/** The texts typed in `carrel chat`, by project: a file in the home with one JSON text a line. */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const kept = 500;

export class ChatHistory {
  readonly #folder: string;
  readonly #file: string;

  constructor(home: string, project: string) {
    this.#folder = existsSync(home) ? join(home, 'chat-history') : '';
    this.#file = join(this.#folder, createHash('sha256').update(project).digest('hex').slice(0, 16));
  }

  /** Returns the oldest text first. A file that cannot be read counts as empty. */
  read(): string[] {
    try {
      const lines = readFileSync(this.#file, 'utf8').split('\n').filter(Boolean);
      if (lines.length > 2 * kept) writeFileSync(this.#file, `${lines.slice(-kept).join('\n')}\n`);
      return lines.slice(-kept).map((line) => String(JSON.parse(line)));
    } catch {
      return [];
    }
  }

  add(text: string): void {
    if (this.#folder === '' || text.trim() === '') return;
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      appendFileSync(this.#file, `${JSON.stringify(text)}\n`, { mode: 0o600 });
    } catch {
      // On a full or read-only disk the text is kept only until the chat ends, ignoring.
    }
  }
}
