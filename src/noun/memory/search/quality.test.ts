import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newNote } from '../../../../test/conformance/memory.ts';
import { generatedNotes, generatedQuestions, standInModel, standInVector } from '../../../../test/fixtures/notes.ts';
import { withoutThread } from '../../../lib/wire/thread-objects.ts';
import { openMemories } from '../memories.ts';
import type { Memory, Query } from '../memory.ts';
import { defaultMemoryLimits } from '../model/memory.ts';
import { memoryObjects } from '../opened-memory.ts';

const folder = mkdtempSync(join(tmpdir(), 'carrel-quality-'));
const memories = openMemories(withoutThread(memoryObjects));
let memory: Memory;
const vectorOf = (text: string) => ({ model: standInModel, values: standInVector(text) });

beforeAll(async () => {
  memory = await memories.open(folder, defaultMemoryLimits);
  const notes = generatedNotes();
  expect(new Set(notes).size).toBe(200);
  await Promise.all(notes.map((text, n) => memory.save(newNote(text, { vector: vectorOf(text), metadata: { n } }))));
});
afterAll(async () => {
  await memories.close();
  rmSync(folder, { recursive: true });
});

/** The share of questions whose note is among the first five. */
async function recallAt5(query: (text: string) => Partial<Query>): Promise<number> {
  const questions = generatedQuestions();
  const found = await Promise.all(
    questions.map(async ({ text, answer }) => {
      const five = await memory.search({ scopes: null, limit: 5, ...query(text) });
      return five.some(({ note }) => note.metadata.n === answer);
    }),
  );
  return found.filter(Boolean).length / questions.length;
}

test('M11 searching 200 notes by both finds at least as much as by words or vectors alone', async () => {
  const text = await recallAt5((question) => ({ text: question }));
  const vectors = await recallAt5((question) => ({ vector: vectorOf(question) }));
  const both = await recallAt5((question) => ({ text: question, vector: vectorOf(question) }));
  console.log(`recall@5 of 50 questions: text ${text}, vectors ${vectors}, both ${both}`);
  expect(text).toBeGreaterThanOrEqual(0.5);
  expect(vectors).toBeGreaterThanOrEqual(0.9);
  expect(both).toBeGreaterThanOrEqual(Math.max(text, vectors));
});
