/** A room on a full disk: acknowledged messages stay, and others are refused until there is space again. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { detachMount, mount } from '../../src/lib/sys/sys-mount.ts';
import { isFault } from '../../src/model/fault.ts';
import { defaultRoomLimits, type RoomMessage } from '../../src/noun/room/model/room.ts';
import type { Rooms } from '../../src/noun/room/room.ts';
import { openRooms } from '../../src/noun/room/rooms.ts';

let disk: string;
let rooms: Rooms;

beforeEach(() => {
  disk = mkdtempSync(join(tmpdir(), 'carrel-room-disk-'));
  mount('carrel-test', disk, 'tmpfs', 0, 'size=8m,mode=755');
  rooms = openRooms();
});

afterEach(async () => {
  await rooms.close();
  detachMount(disk);
  rmSync(disk, { recursive: true });
});

it('R3: a full disk refuses posts, loses no acknowledged message, and later files are complete', async () => {
  const folder = join(disk, 'room');
  mkdirSync(folder);
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(2 * 1024 ** 2));
  const about = { name: 'r', createdBy: 'ann', createdAt: '', retention: null, limits: defaultRoomLimits };
  const room = await rooms.open(folder, about);
  const post = (n: number) =>
    room.post({ from: { kind: 'person', name: 'ann' }, via: 'cli', body: `${n} ${'x'.repeat(50_000)}` });
  const answered: RoomMessage[] = [];
  let refusal: unknown = null;
  for (let n = 0; refusal === null && n < 1000; n += 1) {
    await post(n).then(
      (message) => answered.push(message),
      (error: unknown) => {
        refusal = error;
      },
    );
  }
  expect(isFault(refusal, 'exhausted')).toBe(true);
  expect(answered.length).toBeGreaterThan(5);
  expect(await room.read({ after: null, limit: 1000 })).toEqual(answered);
  rmSync(join(disk, 'ballast'));
  answered.push(await post(1000));
  await room.repair();
  const names = readFileSync(join(folder, 'order.log'), 'utf8').split('\n').slice(0, -1);
  expect(names).toEqual(answered.map(({ id }) => `${id}-ann.md`));
  expect(readdirSync(join(folder, 'processed')).sort()).toEqual(names);
  await room.close();
  const again = await rooms.open(folder, about);
  expect(await again.read({ after: null, limit: 1000 })).toEqual(answered);
});
