/** What every memory promises, rule by rule of docs/formats/memory.md. Each test gets an empty memory of its own. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Memory, NewNote, Vector } from '../../src/noun/memory/memory.ts';
import {
  defaultMemoryLimits,
  type MemoryLimits,
  type MemoryScope,
  type Writer,
} from '../../src/noun/memory/model/memory.ts';

export const person: Writer = { kind: 'person', name: 'ada', id: null, agent: null, session: null };
export const sandbox = (id: string): Writer => ({ kind: 'sandbox', name: `box-${id}`, id, agent: null, session: null });

export function newNote(text: string, change: Partial<NewNote> = {}): NewNote {
  return { scope: 'user', collection: 'notes', text, metadata: {}, by: person, via: 'cli', ...change };
}

const vector = (...values: number[]): Vector => ({ model: 'm1', values });
const shop: MemoryScope = 'project:/shop';

/** The clock of the memory. */
export interface Clock {
  now: Date;
}

export function memoryConformance(
  name: string,
  open: (limits: MemoryLimits, clock: Clock) => Promise<Memory> | Memory,
): void {
  const clock: Clock = { now: new Date('2026-11-16T12:00:00.000Z') };
  let memory: Memory;

  const texts = async (text: string, scopes: readonly MemoryScope[] | null = null) =>
    (await memory.search({ scopes, text, limit: 10 })).map(({ note }) => note.text);
  const use = async (limits: Partial<MemoryLimits>) => {
    await memory.close();
    memory = await open({ ...defaultMemoryLimits, ...limits }, clock);
  };

  describe(name, () => {
    beforeEach(async () => {
      clock.now = new Date('2026-11-16T12:00:00.000Z');
      memory = await open(defaultMemoryLimits, clock);
    });
    afterEach(() => memory.close());

    it('answers a save with the note, and returns it by id', async () => {
      const note = await memory.save(newNote('the port is 5433', { metadata: { topic: 'tests', n: 3, done: true } }));
      expect(note).toMatchObject({ text: 'the port is 5433', by: person, via: 'cli', at: clock.now.toISOString() });
      expect(await memory.get(note.id, null)).toEqual(note);
      expect(await memory.get('01JD8Q4Z7W3V5T1N9R2B6C8D0E', null)).toBeNull();
    });

    it('gives each note a greater id, also when the clock jumps back', async () => {
      const ids = [];
      for (const second of [5, 5, 1, 9]) {
        clock.now = new Date(Date.UTC(2026, 10, 16, 12, 0, second));
        ids.push((await memory.save(newNote(`note ${second}`))).id);
      }
      expect([...ids].sort()).toEqual(ids);
      expect(new Set(ids).size).toBe(4);
    });

    it('finds notes by their words, the best first', async () => {
      await memory.save(newNote('the deploy script needs docker'));
      await memory.save(newNote('tests use port 5433 of the database'));
      await memory.save(newNote('lunch is at noon'));
      expect((await texts('which port has the tests database'))[0]).toBe('tests use port 5433 of the database');
      expect(await texts('unicorn')).toEqual([]);
      expect(await texts('"; AND NOT (')).toEqual([]);
    });

    it('M3 shows a caller the notes of its scopes only, by search, id, list and removal', async () => {
      const note = await memory.save(newNote('secret of the shop', { scope: shop }));
      const others: MemoryScope[] = ['user', 'project:/sho', 'project:/shop/', 'sandbox:/shop'];
      for (const scopes of [others, []]) {
        expect(await texts('secret', scopes)).toEqual([]);
        expect(await memory.get(note.id, scopes)).toBeNull();
        expect(await memory.list({ scopes, before: null, limit: 10 })).toEqual([]);
        expect(await memory.removeAll({ scopes })).toBe(0);
        await expect(memory.remove(note.id, scopes, null)).rejects.toMatchObject({ code: 'not_found' });
        expect((await memory.status(scopes)).collections).toEqual([]);
      }
      expect(await texts('secret', [shop])).toEqual(['secret of the shop']);
    });

    it('M6 lets a sandbox remove only what it wrote, and the user anything', async () => {
      const first = await memory.save(newNote('of one', { by: sandbox('1') }));
      const second = await memory.save(newNote('of one too', { by: sandbox('1') }));
      await expect(memory.remove(first.id, null, sandbox('2'))).rejects.toMatchObject({ code: 'denied' });
      expect(await memory.remove(first.id, null, sandbox('1'))).toEqual(first);
      expect(await memory.remove(second.id, null, null)).toEqual(second);
      expect(await texts('one')).toEqual([]);
    });

    it('M9 saves one note for the same key of the same writer in the same collection', async () => {
      const first = await memory.save(newNote('first', { key: 'k' }));
      expect(await memory.save(newNote('again', { key: 'k' }))).toEqual(first);
      for (const change of [{ by: sandbox('1') }, { collection: 'other' }, { scope: shop }]) {
        expect((await memory.save(newNote('other', { key: 'k', ...change }))).id).not.toBe(first.id);
      }
    });

    it('M9 replaces a note that has expired when its key is saved again', async () => {
      const first = await memory.save(newNote('first', { key: 'k', expiresAt: '2026-11-16T12:00:10.000Z' }));
      clock.now = new Date('2026-11-16T12:00:10.000Z');
      const second = await memory.save(newNote('second', { key: 'k' }));
      expect(second.id > first.id).toBe(true);
      expect(await memory.save(newNote('third', { key: 'k' }))).toEqual(second);
      expect(await texts('second')).toEqual(['second']);
    });

    it('M10 refuses a vector of another model or of other dimensions', async () => {
      await memory.save(newNote('one', { vector: vector(1, 0, 0) }));
      const mixed = { vector: { model: 'm2', values: [1, 0, 0] } };
      await expect(memory.save(newNote('two', mixed))).rejects.toMatchObject({ code: 'conflict' });
      await expect(memory.save(newNote('two', { vector: vector(1, 0) }))).rejects.toMatchObject({ code: 'conflict' });
      expect((await memory.save(newNote('two', { ...mixed, isVectorOptional: true }))).hasVector).toBe(false);
      expect((await memory.save(newNote('two', { ...mixed, collection: 'm2' }))).hasVector).toBe(true);
      expect((await memory.status(null)).collections).toEqual([
        { scope: 'user', name: 'notes', notes: 2, model: 'm1', dimensions: 3 },
        { scope: 'user', name: 'm2', notes: 1, model: 'm2', dimensions: 3 },
      ]);
    });

    it.each([[[]], [[0, 0]], [[Number.NaN, 1]], [[Infinity]]])('M10 refuses the vector %j', async (values) => {
      await expect(memory.save(newNote('x', { vector: vector(...values) }))).rejects.toMatchObject({ code: 'invalid' });
    });

    it('M11 finds by vector, by text, and joins both orders', async () => {
      await memory.save(newNote('apple pie', { vector: vector(1, 0, 0) }));
      await memory.save(newNote('pear cake', { vector: vector(0.9, 0.1, 0) }));
      await memory.save(newNote('steel bolt', { vector: vector(0, 0, 1) }));
      const search = async (query: object) => {
        const found = await memory.search({ scopes: null, limit: 2, ...query });
        return found.map(({ note, foundBy }) => `${note.text}: ${foundBy.join('+')}`);
      };
      expect(await search({ vector: vector(1, 0, 0) })).toEqual(['apple pie: vector', 'pear cake: vector']);
      expect(await search({ text: 'cake' })).toEqual(['pear cake: text']);
      expect((await search({ text: 'cake', vector: vector(1, 0, 0) }))[0]).toBe('pear cake: text+vector');
      expect(await search({ vector: { model: 'm2', values: [1, 0, 0] } })).toEqual([]);
    });

    it('M11 returns vectors as they were saved', async () => {
      const note = await memory.save(newNote('one', { vector: vector(0.5, -0.25, 2) }));
      const bare = await memory.save(newNote('two'));
      expect(await memory.vectors([note.id, bare.id])).toEqual([{ id: note.id, model: 'm1', values: [0.5, -0.25, 2] }]);
    });

    it('M12 selects by collection and metadata before it ranks', async () => {
      for (let index = 0; index < 30; index++) {
        await memory.save(newNote('apple apple apple', { metadata: { n: index }, vector: vector(1, 0, 0) }));
      }
      const wanted = { metadata: { n: 7, topic: 'fruit', ripe: true }, vector: vector(0, 1, 0), collection: 'rare' };
      await memory.save(newNote('an apple', wanted));
      const search = async (rest: object) =>
        (await memory.search({ scopes: null, limit: 3, text: 'apple', vector: vector(1, 0, 0), ...rest })).map(
          ({ note }) => note.collection,
        );
      expect(await search({ collection: 'rare' })).toEqual(['rare']);
      expect(await search({ where: { topic: 'fruit' } })).toEqual(['rare']);
      expect(await search({ where: { ripe: true, n: [6, 7] } })).toEqual(['rare']);
      expect(await search({ where: { ripe: 'true' } })).toEqual([]);
      expect((await search({ where: { n: [3, 7] } })).sort()).toEqual(['notes', 'notes', 'rare']);
      const listed = await memory.list({ scopes: null, before: null, limit: 5, where: { n: 7 } });
      expect(listed.map(({ collection }) => collection)).toEqual(['rare', 'notes']);
    });

    it('lists notes from the newest, page by page', async () => {
      for (let index = 0; index < 5; index++) await memory.save(newNote(`note ${index}`));
      const first = await memory.list({ scopes: null, before: null, limit: 3 });
      const second = await memory.list({ scopes: null, before: first.at(-1)!.id, limit: 3 });
      expect([...first, ...second].map(({ text }) => text)).toEqual([4, 3, 2, 1, 0].map((n) => `note ${n}`));
    });

    it('M14 refuses what is over a limit, and takes it after notes were removed', async () => {
      await use({ totalBytes: 100, noteBytes: 60, metadataBytes: 30, dimensions: 4 });
      const refused = async (note: NewNote) =>
        await expect(memory.save(note)).rejects.toMatchObject({ code: 'exhausted' });
      await refused(newNote('x'.repeat(61)));
      await refused(newNote('x', { metadata: { key: 'y'.repeat(30) } }));
      await refused(newNote('x', { vector: vector(1, 2, 3, 4, 5) }));
      const first = await memory.save(newNote('x'.repeat(60)));
      await refused(newNote('y'.repeat(60)));
      await memory.remove(first.id, null, null);
      await memory.save(newNote('y'.repeat(60)));
      expect((await memory.status(null)).bytes).toBeLessThanOrEqual(100);
    });

    it.each(['a b', 'a"b', '', '$', 'x'.repeat(65)])('refuses the metadata key %j', async (key) => {
      await expect(memory.save(newNote('x', { metadata: { [key]: 1 } }))).rejects.toMatchObject({ code: 'invalid' });
    });

    it('M15 does not return a note after its expiry, and removes it', async () => {
      const note = await memory.save(newNote('short-lived', { expiresAt: '2026-11-16T12:00:10.000Z' }));
      await memory.save(newNote('lasting'));
      clock.now = new Date('2026-11-16T12:00:10.000Z');
      expect(await texts('short')).toEqual([]);
      expect(await memory.get(note.id, null)).toBeNull();
      expect(await memory.list({ scopes: null, before: null, limit: 9 })).toHaveLength(1);
      expect(await memory.expire(clock.now, null)).toBe(1);
      expect(await memory.expire(new Date('2026-11-20T12:00:00.000Z'), 3)).toBe(1);
      expect((await memory.status(null)).notes).toBe(0);
    });

    it('M15 removes all notes of a scope', async () => {
      const scope: MemoryScope = 'sandbox:1';
      for (let index = 0; index < 3; index++)
        await memory.save(newNote(`note ${index}`, { scope, vector: vector(1, index) }));
      await memory.save(newNote('note of the user'));
      expect(await memory.removeAll({ scopes: [scope] })).toBe(3);
      expect(await texts('note')).toEqual(['note of the user']);
      expect((await memory.status(null)).bytes).toBe('note of the user'.length + 2);
    });
  });
}
