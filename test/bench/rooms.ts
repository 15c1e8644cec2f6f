/**
 * Rooms: the time from a durable post to a follower through the daemon, beside a reader that polls a folder every
 * second and beside one JSON array that is locked, read and rewritten whole. Then many writers at once, and a room with
 * many messages.
 */
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../src/client/client.ts';
import { writeWhole } from '../../src/lib/file/file.ts';
import { tryLock } from '../../src/lib/sys/sys.ts';
import type { MessageView } from '../../src/noun/room/api.ts';
import { defaultRoomLimits } from '../../src/noun/room/model/room.ts';
import { openRooms } from '../../src/noun/room/rooms.ts';
import { Installation } from '../harness/installation.ts';
import type { Cleanup } from './cleanup.ts';
import { fillRoom } from './large-room.ts';
import { atMost, type Row, row, timesPeer } from './report.ts';
import { elapsed, interleave, type Summary, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

const target = { p50Ms: 5, p99Ms: 25, thousandMs: 1000, openMs: 200 };
const writers = 50;
const polled = { everyMs: 1000, entries: 10_000 };

export async function measureRooms({ options, cleanup, signal }: Bench): Promise<Row[]> {
  const client = await openDaemon(cleanup);
  return [
    ...(await measureDelivery(client, options.rounds, signal)),
    await measureMany(client, options.posts),
    ...(await measureLarge(options.roomMessages, options.rounds, cleanup, signal)),
  ];
}

/** Starts a daemon without rate limits for a participant, as all writers are one participant. */
async function openDaemon(cleanup: Cleanup): Promise<Client> {
  const installation = new Installation();
  cleanup.add('the daemon with rooms', () => installation.dispose());
  writeFileSync(join(installation.home, 'config.yaml'), 'rooms: {messagesPerSecond: 1000000, burst: 1000000}\n');
  await installation.ok('room', 'create', 'bench');
  return installation.client;
}

const post = (client: Client, body: string) =>
  client.call('POST /v1/rooms/{name}/messages', { path: { name: 'bench' }, body: { body } });

/** Calls `seen` with each message. */
async function following(client: Client, seen: (body: string) => void, signal: AbortSignal): Promise<void> {
  const { id: after } = await post(client, 'first');
  const input = { path: { name: 'bench' }, query: { after }, signal };
  const messages = client.sent<MessageView>('GET /v1/rooms/{name}/follow', input);
  void (async () => {
    for await (const { body } of messages) seen(body);
  })().catch(() => {});
}

async function measureDelivery(client: Client, rounds: number, signal: AbortSignal): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-bench-rooms-'));
  const done = new AbortController();
  try {
    const arrived = new Map<string, () => void>();
    await following(client, (body) => arrived.get(body)?.(), done.signal);
    const poller = pollFolder(join(folder, 'polled'), done.signal);
    const array = jsonArray(join(folder, 'messages.json'));
    let turn = 0;
    const delivered = async () => {
      const body = `m${turn++}`;
      const arrival = new Promise<void>((resolve) => arrived.set(body, resolve));
      return elapsed(() => Promise.all([arrival, post(client, body)]));
    };
    const few = await interleave<'polling', number>(Math.min(rounds, 8), { polling: poller }, signal);
    const taken = await interleave<'room' | 'array', number>(rounds * 5, { room: delivered, array }, signal);
    const [room, arrays, polling] = [taken.room, taken.array, few.polling].map(summarize) as [
      Summary,
      Summary,
      Summary,
    ];
    const p99 = only([...taken.room].sort((a, b) => a - b)[Math.floor(taken.room.length * 0.99)]!);
    return [
      row('reader that polls a folder every second', polling),
      row(`JSON array of ${polled.entries} messages, locked and rewritten durably`, arrays),
      row('room: durable post to its follower', room, [
        atMost(room, target.p50Ms),
        ...timesPeer(room, 'polling', polling),
        ...timesPeer(room, 'JSON array', arrays),
      ]),
      row('  the slowest of a hundred', p99, [atMost(p99, target.p99Ms)]),
    ];
  } finally {
    done.abort();
    rmSync(folder, { recursive: true });
  }
}

const only = (ms: number): Summary => ({ count: 1, min: ms, p50: ms, p95: ms });

/** Returns the time from renaming a file into a folder until a reader that polls every second sees it. */
function pollFolder(folder: string, signal: AbortSignal): () => Promise<number> {
  mkdirSync(folder);
  let seen = (_names: readonly string[]) => {};
  const look = setInterval(() => seen(readdirSync(folder)), polled.everyMs);
  signal.addEventListener('abort', () => clearInterval(look));
  let turn = 0;
  return async () => {
    // The file arrives at another moment of the second each time.
    await pause(Math.random() * polled.everyMs);
    const name = `m${turn++}`;
    const arrival = new Promise<void>((resolve) => {
      seen = (names) => names.includes(name) && resolve();
    });
    return elapsed(async () => {
      writeWhole(join(folder, name), 'message');
      await arrival;
    });
  };
}

function jsonArray(path: string): () => Promise<number> {
  const message = (n: number) => ({
    id: n,
    from: 'ann',
    at: new Date().toISOString(),
    body: 'a message of some words',
  });
  writeFileSync(path, JSON.stringify(Array.from({ length: polled.entries }, (_, n) => message(n))));
  return () =>
    elapsed(async () => {
      const lock = openSync(`${path}.lock`, 'w');
      while (!tryLock(lock)) await pause(1);
      const all = JSON.parse(readFileSync(path, 'utf8')) as object[];
      writeWhole(path, JSON.stringify([...all, message(all.length)]));
      closeSync(lock);
    });
}

/** Reported as the time for a thousand messages. */
async function measureMany(client: Client, count: number): Promise<Row> {
  let left = count;
  const write = async () => {
    while (left-- > 0) await post(client, `one of ${count} messages, with some words`);
  };
  const ms = await elapsed(() => Promise.all(Array.from({ length: writers }, write)));
  const summary = { ...only((ms / count) * 1000), count };
  return row(`room: 1,000 durable messages of ${writers} writers`, summary, [atMost(summary, target.thousandMs)]);
}

/** Without the daemon: its API takes the same time for any size of the room. */
async function measureLarge(count: number, rounds: number, cleanup: Cleanup, signal: AbortSignal): Promise<Row[]> {
  const top = mkdtempSync(join(tmpdir(), 'carrel-bench-rooms-'));
  const rooms = openRooms();
  cleanup.add('large rooms', async () => {
    await rooms.close();
    rmSync(top, { recursive: true });
  });
  const limits = { ...defaultRoomLimits, messagesPerSecond: 1e6, burst: 1e6 };
  const about = { name: 'r', createdBy: 'ann', createdAt: new Date().toISOString(), retention: null, limits };
  const small = await rooms.open(join(top, 'small'), about);
  await small.close();
  await fillRoom(join(top, 'large'), about, count);
  const opened = await interleave<'open', number>(
    Math.min(rounds, 5),
    {
      open: async () => {
        let room = small;
        const ms = await elapsed(async () => {
          room = await rooms.open(join(top, 'large'), about);
        });
        await room.close();
        return ms;
      },
    },
    signal,
  );
  const large = await rooms.open(join(top, 'large'), about);
  const few = await rooms.open(join(top, 'small'), about);
  const inLarge = await deliveryIn(large, signal);
  const inFew = await deliveryIn(few, signal);
  for (const room of [large, few]) await room.setPosition('ann', (await room.status()).lastId!);
  const taken = await interleave<'large' | 'few' | 'showLarge' | 'showFew', number>(
    rounds * 2,
    {
      large: inLarge,
      few: inFew,
      showLarge: () => elapsed(() => shown(large)),
      showFew: () => elapsed(() => shown(few)),
    },
    signal,
  );
  const messages = `${count.toLocaleString('en')} messages`;
  const open = summarize(opened.open);
  const beside = (what: string, one: readonly number[], other: readonly number[]) => [
    row(`room of a few messages: ${what}`, summarize(other)),
    row(
      `room of ${messages}: ${what}`,
      summarize(one),
      timesPeer(summarize(one), 'few messages', summarize(other), 1.5),
    ),
  ];
  return [
    row(`room of ${messages}: open`, open, [atMost(open, target.openMs)]),
    ...beside('post to its follower', taken.large, taken.few),
    ...beside('show, and read what is unread', taken.showLarge, taken.showFew),
  ];
}

type OpenRoom = Awaited<ReturnType<ReturnType<typeof openRooms>['open']>>;

/** Does the same as `room show` and `room read --unread`. */
async function shown(room: OpenRoom): Promise<void> {
  await room.check();
  await room.status();
  const ann = (await room.participants()).find(({ name }) => name === 'ann');
  const unread = await room.read({ after: ann?.position ?? null, limit: 100 });
  if (unread.length > 0) await room.setPosition('ann', unread.at(-1)!.id);
}

async function deliveryIn(room: OpenRoom, signal: AbortSignal): Promise<() => Promise<number>> {
  const send = (body: string) => room.post({ from: { kind: 'person', name: 'ann' }, via: 'cli', body });
  const { id } = await send('first');
  const messages = room.follow(id, signal)[Symbol.asyncIterator]();
  return () => elapsed(() => Promise.all([messages.next(), send('message')]));
}
