import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { withoutThread } from '../../../lib/wire/thread-objects.ts';
import { defaultRoomLimits, type Participant, type RoomMessage } from '../model/room.ts';
import type { Room, RoomAbout, Rooms } from '../room.ts';
import { roomObjects } from '../room-objects.ts';
import { openRooms } from '../rooms.ts';

const ann: Participant = { kind: 'person', name: 'ann' };
const about: RoomAbout = {
  ...{ name: 'plans', createdBy: 'ann', createdAt: '2026-11-16T16:00:00.000Z' },
  ...{ retention: null, limits: defaultRoomLimits },
};

let folder: string;
let rooms: Rooms;
let room: Room;
let now: Date;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-room-'));
  now = new Date('2026-11-16T16:40:12.031Z');
  await open(about);
});

afterEach(async () => {
  await rooms.close();
  rmSync(folder, { recursive: true });
});

async function open(as: RoomAbout): Promise<void> {
  rooms = openRooms(withoutThread(() => roomObjects(() => now)));
  room = await rooms.open(folder, as);
}

const post = (body: string) => room.post({ from: ann, via: 'cli', body });
const bodies = (messages: readonly RoomMessage[]) => messages.map(({ body }) => body);
const all = () => room.read({ after: null, limit: 1000 });
const lines = (name: string) => readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1);

it('R20: the oldest messages move to monthly files, in which they can still be read and found', async () => {
  const posted: RoomMessage[] = [];
  for (const month of ['09', '10', '11']) {
    now = new Date(`2026-${month}-16T10:00:00.000Z`);
    for (const word of ['first', 'second']) posted.push(await post(`month ${month} ${word}`));
  }
  await room.setRetention({ messages: 2 });
  expect(await room.archive(now)).toBe(4);
  expect(await all()).toEqual(posted.slice(4));
  expect(await room.status()).toMatchObject({ messages: 2, archived: 4 });
  expect(readdirSync(join(folder, 'archive'))).toEqual(['2026-09.jsonl.gz', '2026-10.jsonl.gz']);
  expect(await room.readArchived({ after: null, limit: 10 })).toEqual(posted.slice(0, 4));
  expect(await room.readArchived({ after: posted[0]!.id, limit: 2 })).toEqual(posted.slice(1, 3));
  expect(await room.get(posted[2]!.id)).toEqual(posted[2]);
  expect(bodies(await room.search('first', 10))).toEqual(['11', '10', '09'].map((m) => `month ${m} first`));
  expect(readdirSync(join(folder, 'processed')).sort()).toEqual(lines('order.log'));
  expect(await room.repair()).toBe(0);
  await rooms.close();
  await open({ ...about, retention: { messages: 2 } });
  expect((await post('next')).id > posted[5]!.id).toBe(true);
});

it('R20: messages are archived by age, and a post with the key of an archived message returns that message', async () => {
  const old = await room.post({ from: ann, via: 'inbox', body: 'old', key: 'k' });
  now = new Date(now.getTime() + 3 * 86_400_000);
  await post('new');
  await room.setRetention({ days: 1 });
  expect(await room.archive(now)).toBe(1);
  expect(await room.post({ from: ann, via: 'inbox', body: 'old', key: 'k' })).toEqual(old);
  expect(bodies(await all())).toEqual(['new']);
});

it('R20: the keys of webhooks never expire, because a signed request stays valid without end', async () => {
  const signed = await room.post({ from: ann, via: 'webhook', body: 'signed', key: 'hook:sms:SM1' });
  const taken = await room.post({ from: ann, via: 'inbox', body: 'taken', key: 'k' });
  now = new Date(now.getTime() + 30 * 86_400_000);
  await room.setRetention({ days: 1 });
  expect(await room.archive(now)).toBe(2);
  expect(await room.post({ from: ann, via: 'webhook', body: 'signed', key: 'hook:sms:SM1' })).toEqual(signed);
  expect((await room.post({ from: ann, via: 'inbox', body: 'taken', key: 'k' })).id).not.toBe(taken.id);
});
