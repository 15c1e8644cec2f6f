/** A thread of the daemon that ends unexpectedly: what it did is refused, and the next call has another thread. */
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Threads } from '../../src/kernel/job/threads.ts';
import { defaultRoomLimits } from '../../src/noun/room/model/room.ts';
import type { Rooms } from '../../src/noun/room/room.ts';
import { openRooms } from '../../src/noun/room/rooms.ts';

let folder: string;
let workers: Worker[];
const noted = (worker: Worker) => workers.push(worker);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-thread-'));
  workers = [];
  process.on('worker', noted);
});
afterEach(() => {
  process.off('worker', noted);
  rmSync(folder, { recursive: true });
});

describe('the thread of the rooms', () => {
  const about = { name: 'r', createdBy: 'ann', createdAt: '', retention: null, limits: defaultRoomLimits };
  let rooms: Rooms;
  let place: string;
  beforeEach(() => {
    place = join(folder, 'room');
    mkdirSync(place);
    rooms = openRooms();
  });
  afterEach(() => rooms.close());

  const post = async (body: string) => {
    const room = await rooms.open(place, about);
    return room.post({ from: { kind: 'person', name: 'ann' }, via: 'cli', body });
  };
  const locks = () => readdirSync('/proc/self/fd').filter((fd) => targetOf(fd) === join(place, '.carrel/lock'));

  it('is replaced after it ended, and a room that was open can be opened again, with its messages', async () => {
    const first = await post('one');
    const before = await rooms.open(place, about);
    await workers[0]!.terminate();
    await expect.poll(() => locks().length).toBe(0);
    const second = await post('two');
    const room = await rooms.open(place, about);
    expect(await room.read({ after: null, limit: 10 })).toEqual([first, second]);
    expect(locks()).toHaveLength(1);
    // A handle from before closes nothing of the room that is open now.
    await before.close();
    expect((await post('three')).body).toBe('three');
    expect(workers).toHaveLength(2);
  });

  it('is replaced only when it has ended, and calls until then fail with the reason', async () => {
    await post('one');
    const room = await rooms.open(place, about);
    workers[0]!.emit('error', new Error('broken by a test'));
    const ended = workers[0]!.terminate();
    const reason = { code: 'unavailable', cause: new Error('broken by a test') };
    await expect(room.read({ after: null, limit: 10 })).rejects.toMatchObject(reason);
    await ended;
    expect((await post('two')).body).toBe('two');
    expect(workers).toHaveLength(2);
  });
});

function targetOf(fd: string): string | null {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return null;
  }
}

describe('a thread for jobs', () => {
  let threads: Threads;
  beforeEach(() => {
    threads = new Threads({ scratch: folder, installation: 'test' });
  });
  afterEach(() => threads.dispose());

  const copy = (name: string) => {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'file'), name);
    return threads.run({ user: 'ann' }, 'copyTree', join(folder, name), join(folder, `${name}-copy`));
  };

  it('that breaks while it is idle does not end the daemon, and the next job has another thread', async () => {
    await copy('a');
    workers[0]!.emit('error', new Error('broken by a test'));
    await workers[0]!.terminate();
    await copy('b');
    expect(readdirSync(folder).sort()).toEqual(['a', 'a-copy', 'b', 'b-copy']);
    expect(workers).toHaveLength(2);
  });
});
