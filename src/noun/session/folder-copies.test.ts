import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ulidAfter } from '../../model/ulid.ts';
import { FolderCopies } from './folder-copies.ts';
import type { EventData, EventType } from './model/session.ts';
import { sessionLimits } from './model/session.ts';

let home = '';
let copies: FolderCopies;
const folder = () => join(home, 'sessions');
const id = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const created = { agent: 'demo', cwd: '/workspace' };

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'carrel-copies-'));
  copies = await FolderCopies.open(folder());
});
afterEach(async () => {
  await copies.close();
  rmSync(home, { recursive: true });
});

function line<T extends EventType>(seq: number, type: T, data: EventData[T], turnId?: string, sessionId = id): string {
  const at = '2026-01-01T00:00:00.000Z';
  return JSON.stringify({ seq, at, sessionId, ...(turnId === undefined ? {} : { turnId }), type, data });
}

async function reopen(): Promise<void> {
  await copies.close();
  copies = await FolderCopies.open(folder());
}

const conversation = [
  line(1, 'session.created', created),
  line(2, 'prompt', { content: [{ type: 'text', text: 'hi' }] }, 't1'),
  line(3, 'turn.started', {}, 't1'),
  line(4, 'question', { pendingId: 'q1', kind: 'permission', title: 'May I?' }, 't1'),
  line(5, 'answer', { pendingId: 'q1', optionId: 'yes' }, 't1'),
  line(6, 'turn.ended', { stopReason: 'end_turn' }, 't1'),
];

test('S6 the copy has the same lines as the log, and reads them again', async () => {
  await Promise.all(conversation.map((one) => copies.append(id, one)));
  expect(readFileSync(join(folder(), `${id}.ndjson`), 'utf8')).toBe(conversation.map((one) => `${one}\n`).join(''));
  await reopen();
  const copy = copies.find(id)!;
  expect(copy.fold).toMatchObject({ seq: 6, state: 'idle', agent: 'demo' });
  const seen: string[] = [];
  for await (const one of copy.lines()) seen.push(one);
  expect(seen).toEqual(conversation);
});

test.each<[string, number, string]>([
  ['a gap', 2, line(4, 'session.note', { text: 'x' })],
  ['a repeated event', 2, line(2, 'session.note', { text: 'x' })],
  ['a second session.created', 2, line(3, 'session.created', created)],
  ['a first event other than session.created', 0, line(1, 'session.note', { text: 'x' })],
  ['a prompt without a turn', 1, line(2, 'prompt', { content: [] })],
  ['a second prompt of a turn', 2, line(3, 'prompt', { content: [] }, 't1')],
  ['a start of a turn that is unknown', 1, line(2, 'turn.started', {}, 't9')],
  ['a second end of a turn', 6, line(7, 'turn.ended', { stopReason: 'end_turn' }, 't1')],
  ['a second answer', 5, line(6, 'answer', { pendingId: 'q1', optionId: 'no' }, 't1')],
  [
    'a question that was asked already',
    5,
    line(6, 'question', { pendingId: 'q1', kind: 'question', title: 'x' }, 't1'),
  ],
  ['an event of another session', 1, line(2, 'session.note', { text: 'x' }, undefined, id.replace('0', '1'))],
  ['an unknown type', 1, line(2, 'nonsense' as 'update', {})],
  ['text that is not JSON', 1, '{'],
  ['too many values', 1, `{"seq":2,"data":[${'1,'.repeat(200_000)}1]}`],
])('S8 %s is refused, and nothing of it is kept', async (_what, after, bad) => {
  const good = conversation.slice(0, after);
  // All appends begin at once: none is durable when the next one is checked.
  const appends = [...good, bad].map((one) => copies.append(id, one));
  await expect(appends.at(-1)).rejects.toMatchObject({ code: 'corrupt' });
  await Promise.all(appends.slice(0, -1));
  expect(copies.find(id)?.fold.seq ?? 0).toBe(after);
  expect(existsSync(join(folder(), `${id}.ndjson`))).toBe(after > 0);
  await copies.settle();
  if (after < conversation.length) await copies.append(id, conversation[after]!);
});

test('S8 forged ids and more sessions than a sandbox may have are refused', async () => {
  await expect(copies.append('../../etc/passwd', conversation[0]!)).rejects.toMatchObject({ code: 'corrupt' });
  let last: string | null = null;
  for (let made = 0; made < sessionLimits.sessions; made += 1) {
    last = ulidAfter(last, 0);
    await copies.append(last, line(1, 'session.created', created, undefined, last));
  }
  const [beyond] = [ulidAfter(last, 0)];
  const one = line(1, 'session.created', created, undefined, beyond);
  await expect(copies.append(beyond, one)).rejects.toMatchObject({ code: 'exhausted' });
  expect(readdirSync(folder())).toHaveLength(sessionLimits.sessions);
});

test('a removed session stays removed until the program inside has removed it', async () => {
  await copies.append(id, conversation[0]!);
  const ending = copies.find(id)!.follow(1, new AbortController().signal)[Symbol.asyncIterator]().next();
  await copies.remove(id);
  expect(await ending).toMatchObject({ done: true });
  expect(await copies.append(id, conversation[0]!)).toBeNull();
  // The log as a crash before the last step leaves it.
  writeFileSync(join(folder(), `${id}.ndjson`), `${conversation[0]}\n`);
  await reopen();
  expect([copies.list(), copies.removed]).toEqual([[], [id]]);
  await copies.forget(id);
  await copies.append(id, conversation[0]!);
  await reopen();
  expect(copies.list()).toHaveLength(1);
});

test('S1 a torn last line is cut and set aside, and the next event continues', async () => {
  for (const one of conversation.slice(0, 2)) await copies.append(id, one);
  await copies.close();
  appendFileSync(join(folder(), `${id}.ndjson`), conversation[2]!.slice(0, 20));
  copies = await FolderCopies.open(folder());
  expect(copies.find(id)!.fold.seq).toBe(2);
  await copies.append(id, conversation[2]!);
  expect(readdirSync(folder()).some((name) => name.includes('.damaged-'))).toBe(true);
});
