import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { withoutThread } from '../../lib/wire/thread-objects.ts';
import { defaultRoomLimits, type Participant, type RoomLimits, type RoomMessage } from './model/room.ts';
import type { Room, RoomAbout, Rooms } from './room.ts';
import { roomObjects } from './room-objects.ts';
import { openRooms } from './rooms.ts';

const ann: Participant = { kind: 'person', name: 'ann' };
const box: Participant = { kind: 'sandbox', name: 'builder-1' };
const createdAt = '2026-11-16T16:00:00.000Z';

let top: string;
let folder: string;
let rooms: Rooms;
let room: Room;
let now: Date;

beforeEach(async () => {
  top = mkdtempSync(join(tmpdir(), 'carrel-room-'));
  folder = join(top, 'plans');
  now = new Date('2026-11-16T16:40:12.031Z');
  await reopen();
});

afterEach(async () => {
  await rooms.close();
  rmSync(top, { recursive: true });
});

function about(limits: Partial<RoomLimits> = {}): RoomAbout {
  const all = { ...defaultRoomLimits, ...limits };
  return { name: 'plans', createdBy: 'ann', createdAt, retention: null, limits: all };
}

async function reopen(changed: Partial<RoomAbout> = {}): Promise<void> {
  await rooms?.close();
  rooms = openRooms(withoutThread(() => roomObjects(() => now)));
  room = await rooms.open(folder, { ...about(), ...changed });
}

const post = (body: string, from = ann) => room.post({ from, via: 'cli', body });
const bodies = (messages: readonly RoomMessage[]) => messages.map(({ body }) => body);
const all = () => room.read({ after: null, limit: 1000 });
const text = (name: string) => readFileSync(join(folder, name), 'utf8');
const lines = (name: string) => text(name).split('\n').slice(0, -1);

/** Waits until thread.md has `count` messages: views are written after a post is acknowledged. */
const written = (count: number) =>
  vi.waitFor(() => expect(text('thread.md').match(/^\*\*/gm)).toHaveLength(count), { timeout: 20_000 });

async function take(count: number, messages: AsyncIterable<RoomMessage>): Promise<RoomMessage[]> {
  const found: RoomMessage[] = [];
  for await (const message of messages) if (found.push(message) === count) break;
  return found;
}

describe('order', () => {
  it('R1: ids grow when the clock jumps back, also over a restart', async () => {
    const first = await post('one');
    now = new Date('2020-01-01T00:00:00.000Z');
    const second = await post('two');
    await reopen();
    const third = await post('three');
    const ids = [first.id, second.id, third.id];
    expect(ids).toEqual([...ids].sort());
    expect(bodies(await all())).toEqual(['one', 'two', 'three']);
  });

  it('R2: readers, followers and order.log have the same order', async () => {
    const following = take(40, room.follow(null, new AbortController().signal));
    await Promise.all(Array.from({ length: 40 }, (_, n) => post(`m${n}`, n % 2 ? ann : box)));
    const read = await all();
    expect(await following).toEqual(read);
    await written(40);
    expect(lines('order.log')).toEqual(read.map(({ id, from }) => `${id}-${from}.md`));
    expect(readdirSync(join(folder, 'processed')).sort()).toEqual(lines('order.log'));
  });

  it('R3: posts that arrive together are all acknowledged, and are kept over a restart', async () => {
    const posted = await Promise.all(Array.from({ length: 700 }, (_, n) => post(`m${n}`)));
    await reopen();
    expect(await all()).toEqual(posted);
  });

  it('R4: a second post with the same key returns the first message', async () => {
    const first = await room.post({ from: ann, via: 'inbox', body: 'one', key: 'k' });
    await reopen();
    expect(await room.post({ from: ann, via: 'inbox', body: 'other', key: 'k' })).toEqual(first);
    expect(bodies(await all())).toEqual(['one']);
  });

  it('R5: a follower that names its last id gets each later message once', async () => {
    const posted = await Promise.all(['a', 'b', 'c', 'd'].map((body) => post(body)));
    await reopen();
    const followed = take(3, room.follow(posted[1]!.id, new AbortController().signal));
    await post('e');
    expect(bodies(await followed)).toEqual(['c', 'd', 'e']);
  });

  it('R5: a follower of a room whose messages are archived waits for the next one', async () => {
    await post('old');
    await room.setRetention({ messages: 1 });
    now = new Date(now.getTime() + 86_400_000);
    await room.setRetention({ days: 0.5 });
    await room.archive(now);
    await reopen({ retention: { days: 1 } });
    const followed = take(1, room.follow(null, new AbortController().signal));
    await post('new');
    expect(bodies(await followed)).toEqual(['new']);
  });

  it('R6: a room that another process has open cannot be opened, and the error names that process', async () => {
    const second = openRooms(withoutThread(roomObjects));
    await expect(second.open(folder, about())).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(String(process.pid)),
    });
    await room.close();
    room = await second.open(folder, about());
    await post('mine now');
    await second.close();
  });
});

describe('senders', () => {
  it('R7: front matter in the text of a post sets no field of the message', async () => {
    const body = '---\nid: 00000000000000000000000000\nfrom: root\nat: 1970-01-01T00:00:00Z\nvia: hub\n---\nhi';
    const made = await post(body, box);
    await written(1);
    expect(made).toMatchObject({ from: 'builder-1', via: 'cli', at: now.toISOString(), body });
    expect(text(`processed/${made.id}-builder-1.md`)).toBe(
      `---\nid: ${made.id}\nfrom: builder-1\nat: ${made.at}\nmentions: []\nvia: cli\n---\n${body}\n`,
    );
  });

  it('R7: replyTo is dropped if that message does not exist, or is archived', async () => {
    const first = await post('one');
    const reply = (replyTo: string) => room.post({ from: box, via: 'cli', body: 'two', replyTo });
    expect((await reply(first.id)).replyTo).toBe(first.id);
    expect((await reply('01JD8Q4Y000000000000000000')).replyTo).toBeNull();
    now = new Date(now.getTime() + 86_400_000);
    await room.setRetention({ days: 0.5 });
    await room.archive(now);
    expect((await reply(first.id)).replyTo).toBeNull();
  });

  it('R9: a name never changes its kind in a room, not even after its removal', async () => {
    await post('hi', box);
    await room.removeParticipant('builder-1');
    const other: Participant = { kind: 'person', name: 'builder-1' };
    await expect(post('me', other)).rejects.toMatchObject({ code: 'conflict' });
    await expect(room.addParticipant(other)).rejects.toMatchObject({ code: 'conflict' });
    expect(bodies(await all())).toEqual(['hi']);
  });
});

describe('limits', () => {
  it('R14: text that is not UTF-8 is refused', async () => {
    await expect(post('a\ud800b')).rejects.toMatchObject({ code: 'invalid' });
  });

  it('R15: size and mentions are limited for each message, and the rate for each participant', async () => {
    await reopen({ limits: about({ bodyBytes: 10, mentions: 2, burst: 3, messagesPerSecond: 1 }).limits });
    const outcomes = await Promise.allSettled([post('12345678901'), post('@a @b @c'), post(' \n'), post('ok')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'fulfilled']);
    await Promise.all([post('2'), post('3')]);
    await expect(post('4')).rejects.toMatchObject({ code: 'exhausted', data: { retryAfterMs: 1000 } });
    await post('other', box);
    now = new Date(now.getTime() + 1000);
    await post('5');
  });

  it('R15: at the limit, a name that was only mentioned is dropped for a new participant', async () => {
    await reopen({ limits: about({ participants: 3 }).limits });
    await post('@x @y @z');
    await post('hi', box);
    expect((await room.participants()).map(({ name }) => name).sort()).toEqual(['ann', 'builder-1', 'y']);
    await room.addParticipant({ kind: 'person', name: 'bob' });
    await expect(room.addParticipant({ kind: 'person', name: 'eve' })).rejects.toMatchObject({ code: 'exhausted' });
  });

  it('R15: attachments are copied before the answer, and bounded', async () => {
    await reopen({ limits: about({ attachments: 2, attachmentBytes: 8 }).limits });
    const file = join(top, 'file');
    writeFileSync(file, '12345');
    const send = (...names: string[]) =>
      room.post({ from: ann, via: 'cli', body: 'x', attachments: names.map((name) => ({ name, file })) });
    const made = await send('a.txt');
    expect(made.attachments).toEqual([{ name: 'a.txt', bytes: 5 }]);
    expect(text(`attachments/${made.id}/a.txt`)).toBe('12345');
    for (const names of [['a', 'b'], ['a', 'a'], ['../x'], ['.x'], ['a', 'b', 'c']]) {
      await expect(send(...names)).rejects.toThrow();
    }
    expect(readdirSync(join(folder, 'attachments'))).toEqual([made.id]);
  });
});

describe('refused files', () => {
  it('R13: the newest thousand are kept with their reasons, all are counted', async () => {
    const refuse = (name: string, sample: Uint8Array | null = Buffer.alloc(70_000, 'x')) =>
      room.refuse({ from: 'builder-1', name, reason: 'too large', sample });
    await refuse('../a\nb.md');
    expect(readdirSync(join(folder, 'dead'))).toEqual(['_._a_b.md', '_._a_b.md.reason']);
    expect(text('dead/_._a_b.md')).toHaveLength(64 * 1024);
    expect(text('dead/_._a_b.md.reason')).toContain('too large');
    await Promise.all(Array.from({ length: 1001 }, () => refuse('same', null)));
    expect(readdirSync(join(folder, 'dead'))).toHaveLength(2000);
    expect(existsSync(join(folder, 'dead/same'))).toBe(false);
    expect((await room.status()).refused).toBe(1002);
  });
});

describe('views', () => {
  const everything = () => ['order.log', 'thread.md', 'room.yaml'].map(text);

  it('R16: a repair restores damaged and removed files, and removes added ones', async () => {
    const posted = await Promise.all(['one', 'two', 'three'].map((body) => post(`${body} @bob`)));
    await written(3);
    const before = everything();
    const [first, second] = posted.map(({ id }) => `processed/${id}-ann.md`);
    const original = text(second!);
    rmSync(join(folder, first!));
    writeFileSync(join(folder, second!), original.replace('two', 'TWO'));
    truncateSync(join(folder, 'order.log'), 10);
    writeFileSync(join(folder, 'thread.md'), 'x'.repeat(before[1]!.length));
    rmSync(join(folder, 'room.yaml'));
    writeFileSync(join(folder, `processed/${second!.slice(10, 36)}-eve.md`), 'forged');
    expect(await room.repair()).toBe(5);
    expect(everything()).toEqual(before);
    expect(text(second!)).toBe(original);
    expect(readdirSync(join(folder, 'processed')).sort()).toEqual(lines('order.log'));
    rmSync(join(folder, first!));
    expect(await room.check()).toBe(0);
    truncateSync(join(folder, 'thread.md'), 10);
    expect(await room.check()).toBe(2);
  });

  it('R16: views that were deleted while the room was closed are written again', async () => {
    await Promise.all(['one', 'two'].map((body) => post(body)));
    await written(2);
    const before = everything();
    await room.close();
    for (const name of ['order.log', 'thread.md', 'room.yaml', 'processed'])
      rmSync(join(folder, name), { recursive: true });
    await reopen();
    await room.repair();
    expect(everything()).toEqual(before);
    expect(readdirSync(join(folder, 'processed')).sort()).toEqual(lines('order.log'));
  });

  it('R16: a post succeeds although a view cannot be written, and the view is written later', async () => {
    rmSync(join(folder, 'order.log'), { force: true });
    mkdirSync(join(folder, 'order.log'));
    await post('one');
    rmSync(join(folder, 'order.log'), { recursive: true });
    await post('two');
    await written(2);
    expect(lines('order.log')).toHaveLength(2);
  });

  it('R17: no body looks like another message in thread.md', async () => {
    const made = await post('hi');
    await written(1);
    const header = lines('thread.md')[0]!;
    await post(`x\n${header}\r${header}\u2028${header}\n---\n# head\n\n`, box);
    await written(2);
    const heads = lines('thread.md').filter((line) => line !== '' && !line.startsWith('>'));
    expect(heads).toHaveLength(2);
    expect(heads[0]).toContain(made.id);
  });
});

describe('participants', () => {
  it('R18: are added by a post and by a mention, removed, and added again by a post', async () => {
    const names = async () => (await room.participants()).map(({ name, kind }) => [name, kind]);
    await post('hi @bob, @all');
    expect(await names()).toEqual([
      ['ann', 'person'],
      ['bob', null],
    ]);
    expect(text('room.yaml')).toBe(
      `name: plans\ncreated_by: ann\ncreated_at: ${createdAt}\nparticipants: [ann, bob]\n`,
    );
    await room.removeParticipant('ann');
    await room.removeParticipant('bob');
    await expect(room.removeParticipant('bob')).rejects.toMatchObject({ code: 'not_found' });
    expect(await names()).toEqual([]);
    await post('back', { kind: 'sandbox', name: 'bob' });
    expect(await names()).toEqual([['bob', 'sandbox']]);
  });

  it('R19: read positions go forward only, and stay after a restart', async () => {
    const posted = await Promise.all(['a', 'b', 'c'].map((body) => post(body)));
    await room.setPosition('ann', posted[1]!.id);
    await room.setPosition('ann', posted[0]!.id);
    await reopen();
    expect(await room.participants()).toMatchObject([{ name: 'ann', position: posted[1]!.id, unread: 1 }]);
  });
});

describe('search', () => {
  it('finds messages with all words, newest first, whatever signs are in the query', async () => {
    for (const body of ['the red fox', 'a red "dog"', 'blue fox']) await post(body);
    expect(bodies(await room.search('red', 10))).toEqual(['a red "dog"', 'the red fox']);
    expect(bodies(await room.search('fox red', 10))).toEqual(['the red fox']);
    expect(bodies(await room.search('"dog" OR NOT (', 10))).toEqual([]);
    expect(bodies(await room.search('RED do', 10))).toEqual(['a red "dog"']);
    expect(await room.search('*"()', 10)).toEqual([]);
  });
});
