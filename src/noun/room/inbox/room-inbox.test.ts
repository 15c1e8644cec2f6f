import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withoutThread } from '../../../lib/wire/thread-objects.ts';
import { defaultRoomLimits, type RoomMessage } from '../model/room.ts';
import type { Room, Rooms } from '../room.ts';
import { roomObjects } from '../room-objects.ts';
import { openRooms } from '../rooms.ts';

let folder: string;
let rooms: Rooms;
let room: Room;

const about = { name: 'team', createdBy: 'ann', createdAt: '2026-11-16T16:40:12.031Z', retention: null };
const builder = { kind: 'sandbox', name: 'builder' } as const;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-room-inbox-'));
  rooms = openRooms(withoutThread(roomObjects));
  room = await rooms.open(folder, { ...about, limits: { ...defaultRoomLimits, burst: 30, messagesPerSecond: 1 } });
});
afterEach(async () => {
  await rooms.close();
  rmSync(folder, { recursive: true, force: true });
});

async function messages(count: number): Promise<RoomMessage[]> {
  const found: RoomMessage[] = [];
  const enough = new AbortController();
  for await (const message of room.follow(null, enough.signal)) if (found.push(message) === count) break;
  return found;
}

test('R4, R7: a file becomes a message of the participant in whose inbox it lies, and is gone', async () => {
  const inbox = await room.addInbox(builder);
  writeFileSync(join(inbox, 'x.md'), 'hello @ann');
  expect(await messages(1)).toMatchObject([{ from: 'builder', via: 'inbox', body: 'hello @ann', mentions: ['ann'] }]);
  expect(readdirSync(inbox)).toEqual([]);
  writeFileSync(join(folder, 'inbox/x.md'), 'from the owner');
  expect((await messages(2))[1]).toMatchObject({ from: 'ann' });
});

test('R15: when a participant posts too fast, its further files are refused, once each', async () => {
  const inbox = await room.addInbox(builder);
  for (let index = 0; index < 40; index++) writeFileSync(join(inbox, `${index}.md`), String(index));
  await room.removeInbox('builder');
  const handled = async () => {
    const { messages: posted, refused } = await room.status();
    return [posted + refused, refused > 0];
  };
  await vi.waitFor(async () => expect(await handled()).toEqual([40, true]), 20_000);
  expect((await room.status()).watch).toBe('inotify');
  expect(
    readFileSync(
      join(folder, 'dead', readdirSync(join(folder, 'dead')).find((name) => name.endsWith('.reason'))!),
      'utf8',
    ),
  ).toContain('builder posts too fast');
});

test('R4: a file whose key was posted is not refused, and repeated refusals with one key are one entry', async () => {
  await room.post({ from: builder, via: 'inbox', body: 'posted', key: 'k1' });
  for (const key of ['k1', 'k2', 'k2'])
    await room.refuse({ from: 'builder', name: 'x', reason: 'no', sample: null, key });
  expect((await room.status()).refused).toBe(1);
});

test('R4: a file that is in an inbox when the room is closed is posted when it is opened again', async () => {
  const inbox = await room.addInbox(builder);
  const fd = openSync(join(inbox, 'x.md'), 'w');
  writeSync(fd, 'text');
  await room.close();
  closeSync(fd);
  room = await rooms.open(folder, { ...about, limits: defaultRoomLimits });
  expect(await messages(1)).toMatchObject([{ from: 'builder', body: 'text' }]);
  expect(existsSync(inbox)).toBe(true);
});
