/** A memory on a full disk: acknowledged notes stay, and saves are refused until there is space again. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { detachMount, mount } from '../../src/lib/sys/sys-mount.ts';
import { isFault } from '../../src/model/fault.ts';
import { openMemories } from '../../src/noun/memory/memories.ts';
import type { Memories } from '../../src/noun/memory/memory.ts';
import { defaultMemoryLimits, type Note } from '../../src/noun/memory/model/memory.ts';
import { newNote } from '../conformance/memory.ts';

let disk: string;
let memories: Memories;

beforeEach(() => {
  disk = mkdtempSync(join(tmpdir(), 'carrel-memory-disk-'));
  mount('carrel-test', disk, 'tmpfs', 0, 'size=8m,mode=755');
  memories = openMemories();
});

afterEach(async () => {
  await memories.close();
  detachMount(disk);
  rmSync(disk, { recursive: true });
});

it('M8, M16: a full disk refuses saves and loses no acknowledged note', async () => {
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(2 * 1024 ** 2));
  const memory = await memories.open(join(disk, 'ann'), defaultMemoryLimits);
  const answered: Note[] = [];
  let refusal: unknown = null;
  for (let n = 0; refusal === null && n < 1000; n += 1) {
    await memory.save(newNote(`note ${n} ${'x'.repeat(30_000)}`)).then(
      (note) => answered.unshift(note),
      (error: unknown) => {
        refusal = error;
      },
    );
  }
  expect(isFault(refusal, 'exhausted')).toBe(true);
  expect(answered.length).toBeGreaterThan(5);
  const all = { scopes: null, before: null, limit: 1000 };
  expect(await memory.list(all)).toEqual(answered);
  rmSync(join(disk, 'ballast'));
  answered.unshift(await memory.save(newNote('after')));
  await memory.close();
  const again = await memories.open(join(disk, 'ann'), defaultMemoryLimits);
  expect(await again.list(all)).toEqual(answered);
  expect((await again.search({ scopes: null, text: 'note', limit: 1 })).length).toBe(1);
});
