import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeRoom } from '../fake.ts';
import { defaultRoomLimits } from '../model/room.ts';
import { Inboxes } from './inbox.ts';
import { InboxWatch } from './inbox-watch.ts';

let folder: string;
let room: FakeRoom;
let watch: InboxWatch;
let inboxes: Inboxes;
const errors: unknown[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-inboxes-'));
  for (const name of ['inbox', '.carrel/inbox', '.carrel/taking']) mkdirSync(join(folder, name), { recursive: true });
  room = new FakeRoom();
  watch = new InboxWatch(() => false);
  open();
});

function open() {
  const owner = { kind: 'person', name: 'ann' } as const;
  inboxes = new Inboxes({
    folder,
    owner,
    room,
    limits: defaultRoomLimits,
    watch,
    report: (error) => errors.push(error),
  });
}

afterEach(async () => {
  await inboxes.close();
  watch.close();
  rmSync(folder, { recursive: true, force: true });
  expect(errors).toEqual([]);
});

const builder = { kind: 'sandbox', name: 'builder' } as const;
const senders = () => room.messages.map(({ from }) => from);

test('R7: the sender is the participant whose inbox the file lies in', async () => {
  const own = await inboxes.add(builder);
  writeFileSync(join(own, 'ann.md'), 'from the sandbox');
  await room.until(() => room.messages.length === 1);
  writeFileSync(join(folder, 'inbox/x.md'), 'from the owner');
  await room.until(() => room.messages.length === 2);
  expect(senders()).toEqual(['builder', 'ann']);
});

test('a removed inbox is emptied in the background, and its name is free at once', async () => {
  const before = await inboxes.add(builder);
  for (let index = 0; index < 20; index++) writeFileSync(join(before, `${index}.md`), 'text');
  await inboxes.remove('builder');
  expect(existsSync(before)).toBe(false);
  await inboxes.add(builder);
  await inboxes.idle();
  expect(senders()).toEqual(Array.from({ length: 20 }, () => 'builder'));
  expect(readdirSync(join(folder, '.carrel/inbox'))).toEqual(['builder']);
});

test('after a restart, files in existing inboxes and in those of participants that left are posted', async () => {
  await inboxes.add(builder);
  await inboxes.close();
  room.kinds.set('builder', 'sandbox');
  mkdirSync(join(folder, '.carrel/inbox/gone~1'));
  writeFileSync(join(folder, '.carrel/inbox/gone~1/x.md'), 'last words');
  writeFileSync(join(folder, '.carrel/inbox/builder/x.md'), 'first words');
  open();
  await room.until(() => room.messages.length === 2);
  await inboxes.idle();
  expect(senders().sort()).toEqual(['builder', 'gone']);
  expect(readdirSync(join(folder, '.carrel/inbox'))).toEqual(['builder']);
});
