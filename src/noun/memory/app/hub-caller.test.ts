/** Tests which notes callers of the hub can reach. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newNote, sandbox } from '../../../../test/conformance/memory.ts';
import { openTestMemory, type TestMemory } from '../../../../test/fixtures/memory.ts';
import { Fault } from '../../../model/fault.ts';
import type { HubCaller } from '../../hub/hub.ts';
import { socketCaller } from '../../hub/hub.ts';
import type { Project } from '../../project/model/project.ts';
import type { Embedder } from '../embedding/embedding.ts';
import type { Memory } from '../memory.ts';
import { type HubMemoryParts, hubMemory } from './hub-caller.ts';

let opened: TestMemory;
let memory: Memory;
let embedder: Embedder | null;
let reported: unknown[];
beforeEach(() => {
  opened = openTestMemory();
  memory = opened.memory;
  embedder = null;
  reported = [];
});
afterEach(() => opened.remove());

const projects = ['shop', 'bank'].map((id) => ({ id, folder: `/${id}` }) as Project);
const parts = {
  liveMemories: { open: async () => memory, embedder: () => embedder },
  projects: () => projects,
  report: (_: string, fault: Fault) => reported.push(fault.message),
} as unknown as HubMemoryParts;
const ann = { name: 'ann', isOwner: true };
const token = (name: string, ...named: string[]): HubCaller => ({ name, projects: named, groups: ['memory'] });
const as = (caller: HubCaller) => hubMemory(ann, caller, parts);
const texts = async (caller: HubCaller, place?: string) =>
  (await as(caller).search({ text: 'note' }, place)).map(({ note }) => note.text);

describe('a token for one project', () => {
  beforeEach(async () => {
    await memory.save(newNote('note of ann'));
    await memory.save(newNote('note of the shop', { scope: 'project:/shop', by: sandbox('1') }));
    await memory.save(newNote('note of the bank', { scope: 'project:/bank' }));
    await memory.save(newNote('note of a sandbox', { scope: 'sandbox:1' }));
  });

  test('M3 finds only the notes of that project', async () => {
    expect(await texts(token('t1', 'shop'))).toEqual(['note of the shop']);
    expect(await texts(token('t1', 'shop'), 'shop')).toEqual(['note of the shop']);
    expect(await texts(token('t1'))).toEqual([]);
    expect(await texts(socketCaller)).toHaveLength(4);
  });

  test.each(['bank', 'user', 'project:/bank', 'sandbox:1', '', '*'])(
    'M3 is refused the project or scope %j',
    async (place) => {
      await expect(texts(token('t1', 'shop'), place)).rejects.toMatchObject({ code: 'not_found' });
      await expect(as(token('t1', 'shop')).save({ text: 'x' }, place)).rejects.toMatchObject({ code: 'not_found' });
    },
  );

  test('M3, M6 cannot read notes of other projects by id, and can forget only its own notes', async () => {
    const [ofShop, ofBank] = await Promise.all(
      ['project:/shop', 'project:/bank'].map(async (scope) => {
        const found = await memory.list({ scopes: [scope as 'user'], before: null, limit: 1 });
        return found[0]!.id;
      }),
    );
    const caller = as(token('t1', 'shop'));
    await expect(caller.get(ofBank!)).rejects.toMatchObject({ code: 'not_found' });
    await expect(caller.forget(ofBank!)).rejects.toMatchObject({ code: 'not_found' });
    await expect(caller.forget(ofShop!)).rejects.toMatchObject({ code: 'denied' });
    const own = await caller.save({ text: 'own' }, 'shop');
    await expect(as(token('t2', 'shop')).forget(own.id)).rejects.toMatchObject({ code: 'denied' });
    expect((await caller.forget(own.id)).id).toBe(own.id);
  });

  test('M5, M7 is recorded as the author of its notes, which are foreign to other tokens', async () => {
    const { by, via, foreign } = await as(token('t1', 'shop')).save({ text: 'own note' }, 'shop');
    expect([by.kind, by.id, via, foreign]).toEqual(['token', 't1', 'hub', false]);
    const [first] = await as(token('t2', 'shop')).search({ text: 'own' });
    expect(first?.note.foreign).toBe(true);
    await expect(as(token('t1', 'shop')).save({ text: 'x' })).rejects.toMatchObject({ code: 'denied' });
  });
});

test('M10, M11 notes and queries get vectors from the endpoint, and the search uses words while it fails', async () => {
  embedder = { model: 'm', close: async () => {}, embed: async (text) => (text.includes('fruit') ? [1, 0] : [0, 1]) };
  await as(socketCaller).save({ text: 'a fruit' });
  expect(await as(socketCaller).search({ text: 'grapefruit' })).toMatchObject([{ foundBy: ['vector'] }]);
  embedder = {
    model: 'm',
    close: async () => {},
    embed: async () => {
      throw new Fault('unavailable', 'no answer');
    },
  };
  expect((await as(socketCaller).save({ text: 'another fruit' })).hasVector).toBe(false);
  expect(await as(socketCaller).search({ text: 'another' })).toMatchObject([{ foundBy: ['text'] }]);
  expect(reported).toEqual(['no answer', 'no answer']);
  embedder = { model: 'other', close: async () => {}, embed: async () => [1, 0, 0] };
  expect((await as(socketCaller).save({ text: 'of another model' })).hasVector).toBe(false);
});
