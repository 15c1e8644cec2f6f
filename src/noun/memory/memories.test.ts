import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { memoryConformance, newNote } from '../../../test/conformance/memory.ts';
import { withoutThread } from '../../lib/wire/thread-objects.ts';
import { openMemories } from './memories.ts';
import type { Memories, Memory } from './memory.ts';
import { defaultMemoryLimits as limits } from './model/memory.ts';
import { memoryObjects } from './opened-memory.ts';

let folder: string;
let memories: Memories;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-memory-'));
  memories = openMemories(withoutThread(memoryObjects));
});
afterEach(async () => {
  await memories.close();
  rmSync(folder, { recursive: true, force: true });
});

let opened = 0;
memoryConformance('the memory in SQLite', (allowed, clock) => {
  memories = openMemories(withoutThread(() => memoryObjects({ now: () => clock.now })));
  return memories.open(join(folder, String(opened++)), allowed);
});

const texts = async (memory: Memory, text: string) =>
  (await memory.search({ scopes: null, text, limit: 10 })).map(({ note }) => note.text);

test('M1 each folder has notes of its own', async () => {
  const [ada, bob] = [
    await memories.open(join(folder, 'ada'), limits),
    await memories.open(join(folder, 'bob'), limits),
  ];
  const note = await ada.save(newNote('secret of ada'));
  expect(await texts(bob, 'secret')).toEqual([]);
  expect(await bob.get(note.id, null)).toBeNull();
});

test('M8 notes and vectors are kept when the file is closed and opened again', async () => {
  const note = await (await memories.open(folder, limits)).save(
    newNote('kept', { vector: { model: 'm', values: [1, 2] } }),
  );
  await memories.close();
  const memory = await memories.open(folder, limits);
  expect(await memory.get(note.id, null)).toEqual(note);
  expect(await memory.search({ scopes: null, vector: { model: 'm', values: [1, 2] }, limit: 1 })).toMatchObject([
    { note },
  ]);
});

test('M11 words are found in other forms and with other accents', async () => {
  const memory = await memories.open(folder, limits);
  await memory.save(newNote('The café deploys its containers nightly'));
  expect(await texts(memory, 'Cafe deploying container')).toHaveLength(1);
});

test('M11 a collection with many vectors finds the nearest by their bits first', async () => {
  const memory = await memories.open(folder, limits);
  const values = (seed: number) => Array.from({ length: 32 }, (_, index) => Math.sin(seed * 7.3 + index * (1 + seed)));
  const saves = Array.from({ length: 2100 }, (_, index) =>
    memory.save(
      newNote(`note ${index}`, { vector: { model: 'm', values: values(index) }, metadata: { n: index % 2 } }),
    ),
  );
  await Promise.all(saves);
  const best = async (where?: object) =>
    (await memory.search({ scopes: null, vector: { model: 'm', values: values(1234) }, limit: 1, ...where }))[0]?.note
      .text;
  expect(await best()).toBe('note 1234');
  expect(await best({ where: { n: 0 } })).toBe('note 1234');
  expect(await best({ where: { n: 1 } })).not.toBe('note 1234');
});

test('M13 without sqlite-vec text is searched and vectors are kept', async () => {
  const bare = openMemories(withoutThread(() => memoryObjects({ extension: () => null })));
  const memory = await bare.open(folder, limits);
  const vector = { model: 'm', values: [1, 2] };
  await memory.save(newNote('apple', { vector }));
  expect((await memory.status(null)).searchesVectors).toBe(false);
  expect(await memory.search({ scopes: null, text: 'apple', vector, limit: 5 })).toMatchObject([{ foundBy: ['text'] }]);
  await bare.close();
  const again = await memories.open(folder, limits);
  expect(await again.search({ scopes: null, vector, limit: 5 })).toMatchObject([{ foundBy: ['vector'] }]);
});

test('M16 a file that is not a database is set aside, and a new one is created', async () => {
  writeFileSync(join(folder, 'memory.db'), 'x'.repeat(10_000));
  const memory = await memories.open(folder, limits);
  await memory.save(newNote('after'));
  const { notes, setAside } = await memory.status(null);
  expect(notes).toBe(1);
  expect(setAside).toHaveLength(1);
  expect(setAside[0]).toMatch(/memory\.db\.damaged-\d{8}T\d{6}Z$/);
});

test('M16 when a call finds damage, the next opening sets the file aside', async () => {
  const first = await memories.open(folder, limits);
  for (let index = 0; index < 40; index++) await first.save(newNote(`note ${index} ${'x'.repeat(5000)}`));
  await first.close();
  damage(join(folder, 'memory.db'));
  const damaged = await memories.open(folder, limits);
  await expect(damaged.list({ scopes: null, before: null, limit: 100 })).rejects.toMatchObject({ code: 'corrupt' });
  const memory = await memories.open(folder, limits);
  expect((await memory.status(null)).setAside).toHaveLength(1);
  await memory.save(newNote('after'));
  expect(readdirSync(folder).filter((name) => name.includes('damaged'))).not.toEqual([]);
});

/** Overwrites pages 24 to 59, behind the pages that have the schema. */
function damage(path: string): void {
  const fd = openSync(path, 'r+');
  for (let page = 24; page < 60; page++) writeSync(fd, Buffer.alloc(4096, 0xff), 0, 4096, page * 4096);
  closeSync(fd);
}
