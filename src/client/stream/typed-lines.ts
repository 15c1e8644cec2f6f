/** The lines that a person types as answers. */
import { createInterface, type Interface } from 'node:readline';

export class TypedLines {
  readonly #input: Interface;
  readonly #lines: AsyncIterator<string>;

  constructor() {
    // With `terminal: false`, Ctrl-C still sends a signal.
    this.#input = createInterface({ input: process.stdin, terminal: false });
    this.#lines = this.#input[Symbol.asyncIterator]();
  }

  /** Null: the end of input. */
  async ask(question: string): Promise<string | null> {
    process.stderr.write(question);
    const { done, value } = await this.#lines.next();
    if (done) process.stderr.write('\n');
    return done ? null : value;
  }

  /** Stops reading while another program reads the terminal. */
  async whilePaused<T>(task: () => Promise<T>): Promise<T> {
    this.#input.pause();
    try {
      return await task();
    } finally {
      this.#input.resume();
    }
  }

  close(): void {
    this.#input.close();
  }
}
