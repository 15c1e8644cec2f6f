/** Waits with a time-out: for a condition that no event announces, or for the output of a stream. */
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';

export const patienceMs = 40_000;

/** Asks until the answer is not null. */
export async function until<T>(what: string, ask: () => Promise<T | null>, withinMs = patienceMs): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const from = performance.now();
    const answer = await ask();
    if (answer !== null) return answer;
    if (Date.now() > deadline) throw new Error(`waited ${withinMs} ms for ${what}`);
    await sleep(Math.min(Math.max(5, 3 * (performance.now() - from)), 300));
  }
}

/** Waits for the promise, or throws an error that says what did not happen in time. */
export async function within<T>(what: string, promise: Promise<T>, withinMs = patienceMs): Promise<T> {
  const timer = new AbortController();
  const late = sleep(withinMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`waited ${withinMs} ms for ${what}`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([promise, late]);
  } finally {
    timer.abort();
  }
}

/** Collects everything that a stream delivers from now on. */
export class Heard {
  readonly #chunks: Buffer[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #end: Promise<void>;

  constructor(stream: Readable) {
    stream.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      for (const look of this.#waiting) look();
    });
    this.#end = finished(stream, { writable: false });
    this.#end.catch(() => {});
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  get text(): string {
    return this.bytes.toString();
  }

  async toEnd(): Promise<Buffer> {
    await within('the end of a stream', this.#end);
    return this.bytes;
  }

  async has(text: string): Promise<void> {
    let look = () => {};
    const seen = new Promise<void>((resolve) => {
      look = () => this.text.includes(text) && resolve();
    });
    this.#waiting.add(look);
    look();
    try {
      await within(`${JSON.stringify(text)} in a stream`, seen);
    } catch (error) {
      throw new Error(`${(error as Error).message}, which brought ${JSON.stringify(this.text.slice(-500))}`);
    } finally {
      this.#waiting.delete(look);
    }
  }
}

/** Like toEqual, but says where megabytes differ instead of printing them. */
export function expectBytes(actual: Buffer, expected: Buffer): void {
  const wrong = actual.findIndex((byte, at) => byte !== expected[at]);
  expect({ bytes: actual.length, firstWrong: wrong }).toEqual({ bytes: expected.length, firstWrong: -1 });
}
