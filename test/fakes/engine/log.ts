/** What the command of a fake sandbox wrote, in memory, line by line. */
import { EventEmitter, once } from 'node:events';
import type { LogLine, LogOptions } from '../../../src/kernel/engine/engine.ts';

type Stream = LogLine['stream'];

export class FakeLog {
  readonly #lines: LogLine[] = [];
  readonly #unfinished = new Map<Stream, Buffer>();
  readonly #changes = new EventEmitter().setMaxListeners(0);
  #closed = false;

  append(stream: Stream, chunk: Buffer): void {
    let rest = Buffer.concat([this.#unfinished.get(stream) ?? Buffer.alloc(0), chunk]);
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      this.#keep(stream, rest.subarray(0, end + 1));
      rest = rest.subarray(end + 1);
    }
    this.#unfinished.set(stream, rest);
    this.#changes.emit('change');
  }

  /** No output follows. An incomplete line is kept as it is. */
  close(): void {
    for (const [stream, rest] of this.#unfinished) if (rest.length > 0) this.#keep(stream, rest);
    this.#unfinished.clear();
    this.#closed = true;
    this.#changes.emit('change');
  }

  #keep(stream: Stream, bytes: Buffer): void {
    this.#lines.push({ at: new Date().toISOString(), stream, bytes });
  }

  async *read({ follow, tail, signal }: LogOptions): AsyncGenerator<LogLine> {
    let next = tail === null ? 0 : Math.max(0, this.#lines.length - tail);
    while (!signal?.aborted) {
      const line = this.#lines[next];
      if (line) {
        next += 1;
        yield line;
      } else if (!follow || this.#closed) {
        return;
      } else {
        await this.#changed(signal);
      }
    }
  }

  async #changed(signal: AbortSignal | undefined): Promise<void> {
    try {
      await once(this.#changes, 'change', signal ? { signal } : {});
    } catch (error) {
      if (!signal?.aborted) throw error;
    }
  }
}
