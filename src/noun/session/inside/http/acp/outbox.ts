/** Messages for the clients of one connection, numbered from 1. The newest are kept for clients that come back. */
import { EventEmitter, once } from 'node:events';

const maxMessages = 10_000;
const maxBytes = 8 * 1024 ** 2;

export class Outbox {
  readonly #kept: string[] = [];
  readonly #changes = new EventEmitter().setMaxListeners(0);
  #bytes = 0;
  last = 0;
  /** Clients that read now. */
  readers = 0;

  push(message: object): void {
    const line = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.#kept.push(line);
    this.#bytes += line.length;
    this.last += 1;
    while (this.#kept.length > maxMessages || (this.#bytes > maxBytes && this.#kept.length > 1))
      this.#bytes -= this.#kept.shift()!.length;
    this.#changes.emit('change');
  }

  /** A client that is too far behind misses messages that are no longer kept. */
  async *follow(after: number, signal: AbortSignal): AsyncIterable<string> {
    this.readers += 1;
    try {
      for (let at = after; !signal.aborted; ) {
        at = Math.max(at, this.last - this.#kept.length);
        if (at < this.last) yield `id: ${++at}\ndata: ${this.#kept[at - 1 - this.last + this.#kept.length]}\n\n`;
        else await once(this.#changes, 'change', { signal }).catch(() => {});
      }
    } finally {
      this.readers -= 1;
    }
  }
}
