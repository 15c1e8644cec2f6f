import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DurableLog } from '../../../lib/data/durable-log.ts';
import type { SessionEvent } from '../model/session.ts';
import { ask, TestSessions, turn, until } from './fake-sessions.ts';

let all: TestSessions;

beforeEach(() => {
  all = new TestSessions();
});

afterEach(() => all.remove());

describe('S2: an agent gets a prompt at most once', () => {
  test.each([10, 1024 ** 2 - 100])('a prompt of %i bytes for an idle agent starts one turn only', async (bytes) => {
    const session = await all.create();
    await turn(session, 'say one');
    await session.flush();
    const text = `say ${'x'.repeat(bytes)}`;
    await turn(session, text);
    expect(all.types(session.id).filter((type) => type === 'turn.started')).toHaveLength(2);
  });
});

describe('S3: an agent that was killed is replaced', () => {
  test('a prompt for an agent that was killed while it was idle goes to the next one, once', async () => {
    const session = await all.create();
    await turn(session, 'say one');
    all.agents.drivers[0]!.dieUnseen();
    expect((await turn(session, 'say two')).data).toEqual({ stopReason: 'end_turn' });
    expect(all.agents.prompts).toEqual(['say one', 'say two']);
    expect(all.types(session.id).filter((type) => type === 'turn.started')).toHaveLength(2);
  });

  test('an agent that ends whenever it is started interrupts the turn', async () => {
    all.agents.diesAtOnce = true;
    const session = await all.create();
    expect((await turn(session, 'say one')).data).toMatchObject({ stopReason: 'interrupted' });
    expect(all.agents.prompts).toEqual([]);
  });
});

describe('S9: the first answer to a question counts', () => {
  test('a question stays open until the first answer; the second one is a conflict', async () => {
    const session = await all.create();
    await ask(session, 'ask May I?');
    const question = (await until(session, ({ type }) => type === 'question')) as SessionEvent & { type: 'question' };
    const { pendingId } = question.data;
    expect(session.fold.state).toBe('waiting');
    await expect(session.answer(pendingId, { optionId: 'maybe' })).rejects.toMatchObject({ code: 'invalid' });
    await expect(session.answer(pendingId, {})).rejects.toMatchObject({ code: 'invalid' });
    await expect(session.answer('x', { optionId: 'yes' })).rejects.toMatchObject({ code: 'not_found' });
    const two = await Promise.allSettled([1, 2].map(() => session.answer(pendingId, { optionId: 'yes' })));
    expect(two.map((one) => (one.status === 'rejected' ? one.reason.code : 'ok'))).toEqual(['ok', 'conflict']);
    await until(session, ({ type }) => type === 'turn.ended');
    expect(session.fold.messages.at(-1)!.parts.at(-1)).toEqual({ type: 'text', text: 'answer yes' });
  });
});

describe('S10: a question outlives its agent', () => {
  test('a question whose agent is gone can still be answered: the agent gets question and answer', async () => {
    const session = await all.create();
    await ask(session, 'ask May I?');
    await until(session, ({ type }) => type === 'question');
    const again = (await all.reopen()).find(session.id);
    const { pendingId } = again.fold.questions[0]!;
    expect(again.fold.state).toBe('waiting');
    await again.answer(pendingId, { optionId: 'yes' });
    await until(again, ({ type, turnId }) => type === 'turn.ended' && turnId === `answer-${pendingId}`);
    expect(all.agents.prompts).toEqual([expect.stringMatching(/May I\?\n.*Yes/)]);
    await expect(again.answer(pendingId, { optionId: 'yes' })).rejects.toMatchObject({ code: 'conflict' });
  });

  async function questionOf(text: string) {
    const session = await all.create();
    const { turnId } = await ask(session, text);
    await until(session, ({ type }) => type === 'question');
    return { session, turnId, pendingId: session.fold.questions[0]!.pendingId };
  }

  const prompts = ['mute May I?', expect.stringMatching(/May I\?\n.*Yes/)];

  test('an answer that an agent did not react to before it was lost reaches the next one', async () => {
    const { session, pendingId } = await questionOf('mute May I?');
    await session.answer(pendingId, { optionId: 'yes' });
    all.agents.drivers[0]!.crash('killed');
    await until(session, ({ type, turnId }) => type === 'turn.ended' && turnId === `answer-${pendingId}`);
    expect(all.agents.prompts).toEqual(prompts);
  });

  test.each([0, 1, 2, 4, 8])('an answer reaches the next agent if the first is lost %i steps later', async (steps) => {
    const { session, pendingId } = await questionOf('mute May I?');
    const answered = session.answer(pendingId, { optionId: 'yes' });
    for (let step = 0; step < steps; step += 1) await new Promise(setImmediate);
    all.agents.drivers[0]!.crash('killed');
    await answered;
    await until(session, ({ type, turnId }) => type === 'turn.ended' && turnId === `answer-${pendingId}`);
    expect(all.agents.prompts).toEqual(prompts);
  });

  test('an answer that is on disk when the agent API is killed reaches the next agent, once', async () => {
    const { session, pendingId } = await questionOf('mute May I?');
    await session.answer(pendingId, { optionId: 'yes' });
    const again = (await all.reopen()).find(session.id);
    await until(again, ({ type, turnId }) => type === 'turn.ended' && turnId === `answer-${pendingId}`);
    expect(all.agents.prompts).toEqual([prompts[1]]);
    await all.reopen();
    expect(all.agents.prompts).toEqual([]);
  });

  test('an answer that the agent reacted to is not repeated', async () => {
    const { session, turnId, pendingId } = await questionOf('busy May I?');
    await session.answer(pendingId, { optionId: 'yes' });
    await until(session, ({ type }) => type === 'text');
    all.agents.drivers[0]!.crash('killed');
    await until(session, (event) => event.type === 'turn.ended' && event.turnId === turnId);
    await turn(session, 'say next');
    expect(all.agents.prompts).toEqual(['busy May I?', 'say next']);
  });
});

describe('S12: prompts for a busy session, and cancel', () => {
  test('a prompt while the session is busy is refused as a conflict, or waits if it is queued', async () => {
    const session = await all.create();
    await ask(session, 'hang');
    await expect(ask(session, 'say no')).rejects.toMatchObject({ code: 'conflict' });
    const { turnId } = await ask(session, 'say yes', true);
    await until(session, ({ type }) => type === 'turn.started');
    await session.cancel();
    await until(session, (event) => event.type === 'turn.ended' && event.turnId === turnId);
    expect(all.agents.prompts).toEqual(['hang', 'say yes']);
  });

  test('of several prompts at the same time only one is accepted', async () => {
    const session = await all.create();
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => ask(session, 'hang')));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('cancel ends the turn and its questions', async () => {
    const session = await all.create();
    await ask(session, 'ask May I?');
    await until(session, ({ type }) => type === 'question');
    await session.cancel();
    expect(session.fold.state).toBe('idle');
    const ends = all.lines(session.id).filter(({ type }) => type === 'answer' || type === 'turn.ended');
    expect(ends).toMatchObject([
      { type: 'answer', data: { cancelled: true } },
      { type: 'turn.ended', data: { stopReason: 'cancelled' } },
    ]);
  });

  test('an agent that cannot be started fails the turn; the next prompt tries again', async () => {
    all.agents.refusal = 'demo is not installed';
    const session = await all.create();
    expect((await turn(session, 'say x')).data).toEqual({ stopReason: 'failed', reason: 'demo is not installed' });
    expect(session.fold.state).toBe('failed');
    all.agents.refusal = null;
    expect((await turn(session, 'say x')).data).toEqual({ stopReason: 'end_turn' });
  });

  test('a closed session accepts nothing', async () => {
    const session = await all.create();
    await ask(session, 'hang');
    await ask(session, 'say queued', true);
    await session.close();
    expect(session.fold.state).toBe('closed');
    expect(session.fold.turns).toEqual([]);
    await expect(ask(session, 'say x')).rejects.toMatchObject({ code: 'conflict' });
    expect(all.agents.drivers[0]!.isStopped).toBe(true);
  });
});

describe('S14: forks', () => {
  test('a fork has the earlier events of its source, and continues independently of it', async () => {
    const sessions = await all.open();
    const session = await all.create();
    await turn(session, 'say one');
    await ask(session, 'ask May I?');
    await until(session, ({ type }) => type === 'question');
    const fork = sessions.find((await sessions.fork(session.id, { title: 'other way' })).id);
    expect(fork.fold).toMatchObject({ title: 'other way', state: 'idle', questions: [], turns: [] });
    expect(fork.fold.forkedFrom).toEqual({ sessionId: session.id, seq: session.fold.seq });
    await turn(fork, 'say two');
    expect(all.agents.starts.at(-1)).toMatchObject({ known: { forkOf: `agent-${session.id}` } });
    expect(session.fold.state).toBe('waiting');
    await session.cancel();
    await all.reopen();
    expect(all.types(fork.id).slice(0, 6)).toEqual(all.types(session.id).slice(0, 6));
  });
});

describe('S15: limits', () => {
  test('a prompt or a session beyond the limits is refused as exhausted', async () => {
    const sessions = await all.open();
    const session = await all.create();
    await expect(ask(session, 'x'.repeat(1024 ** 2))).rejects.toMatchObject({ code: 'exhausted' });
    for (let n = 1; n < 100; n += 1) await sessions.create({});
    await expect(sessions.create({})).rejects.toMatchObject({ code: 'exhausted' });
    await sessions.remove(session.id);
    expect(existsSync(join(all.folder, session.id))).toBe(false);
    await sessions.create({});
    expect(sessions.list()).toHaveLength(100);
  });
});

test('creating a session twice with one id returns the same session', async () => {
  const sessions = await all.open();
  const [a, b] = await Promise.all([1, 2].map(() => sessions.create({ sessionId: '01ARZ3NDEKTSV4RRFFQ69G5FAV' })));
  expect(a).toBe(b);
  await expect(sessions.create({ agent: 'none' })).rejects.toMatchObject({ code: 'invalid' });
});

test('mode and model are set at the agent, and kept for the next agent', async () => {
  const session = await all.create();
  await session.setMode('b');
  await session.setModel('a');
  expect(session.fold).toMatchObject({ modes: { current: 'b' }, models: { current: 'a' } });
  await expect(session.setMode('z')).rejects.toMatchObject({ code: 'invalid' });
  await session.rename('a name');
  const again = (await all.reopen()).find(session.id);
  await turn(again, 'say x');
  expect(all.agents.starts[0]).toMatchObject({ known: { mode: 'b', model: 'a' } });
  expect(again.fold.title).toBe('a name');
});

test('the digest of a session is the digest of the lines of its log', async () => {
  const session = await all.create();
  await turn(session, 'say x');
  const log = await DurableLog.open(join(all.folder, session.id, 'events.ndjson'), {
    ...{ maxBytes: 1e6, maxLineBytes: 1e6, parse: (line: string) => line },
  });
  expect(await session.digest(session.fold.seq)).toBe(await log.digest(log.count));
  await log.close();
});
