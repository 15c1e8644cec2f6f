import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ask, TestSessions, turn, until, words } from './fake-sessions.ts';
import type { LoggedEvent } from './inside.ts';

let all: TestSessions;

beforeEach(() => {
  all = new TestSessions();
});

afterEach(() => all.remove());

async function* each(texts: readonly string[]): AsyncGenerator<string> {
  yield* texts;
}

describe('S1: events are numbered and durable', () => {
  test('events are numbered from 1 without gaps, and are on disk before a follower sees them', async () => {
    const session = await all.create();
    await until(session, ({ type }) => type === 'session.configured');
    const { turnId } = await ask(session, 'say a b c');
    const seqs: number[] = [];
    for await (const { event, line } of session.follow(0, AbortSignal.timeout(10_000))) {
      expect(readFileSync(join(all.folder, session.id, 'events.ndjson'), 'utf8')).toContain(`${line}\n`);
      seqs.push(event.seq);
      if (event.type === 'turn.ended' && event.turnId === turnId) break;
    }
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(all.types(session.id)).toEqual([
      ...['session.created', 'session.configured', 'prompt', 'turn.started', 'text', 'text', 'text', 'turn.ended'],
    ]);
  });
});

describe('S2: an agent gets a prompt at most once', () => {
  test('a repeated request gets the same answer and prompts once, also after a restart', async () => {
    const session = await all.create();
    const first = await session.prompt({ turnId: 't1', content: words('say hello') });
    await until(session, ({ type }) => type === 'turn.ended');
    expect(await session.prompt({ turnId: 't1', content: words('say hello') })).toEqual(first);
    expect(all.agents.prompts).toEqual(['say hello']);
    const again = (await all.reopen()).find(session.id);
    expect(await again.prompt({ turnId: 't1', content: words('say hello') })).toEqual(first);
    expect(all.agents.prompts).toEqual([]);
  });

  test('a prompt that had not started runs after a restart, and one that had does not', async () => {
    const session = await all.create();
    await ask(session, 'hang');
    const second = await ask(session, 'say later', true);
    await until(session, ({ type }) => type === 'turn.started');
    const again = (await all.reopen()).find(session.id);
    await until(again, ({ type, turnId }) => type === 'turn.ended' && turnId === second.turnId);
    expect(all.agents.prompts).toEqual(['say later']);
  });
});

describe('S3: a lost agent or agent API interrupts the turn', () => {
  test('a turn whose agent is lost ends with interrupted, and the next prompt starts an agent that remembers', async () => {
    const session = await all.create();
    await ask(session, 'hang');
    await until(session, ({ type }) => type === 'turn.started');
    all.agents.drivers[0]!.crash('ended with 9: out of luck');
    const end = await until(session, ({ type }) => type === 'turn.ended');
    expect(end.data).toEqual({ stopReason: 'interrupted', reason: 'ended with 9: out of luck' });
    expect(await turn(session, 'say again')).toMatchObject({ data: { stopReason: 'end_turn' } });
    expect(all.agents.starts[1]).toMatchObject({ hasHistory: true, known: { agentSessionId: `agent-${session.id}` } });
  });

  test('a turn that an earlier agent API left ends with interrupted', async () => {
    const session = await all.create();
    await ask(session, 'hang');
    await until(session, ({ type }) => type === 'turn.started');
    const again = (await all.reopen()).find(session.id);
    expect(again.fold.state).toBe('idle');
    expect(all.lines(session.id).at(-1)).toMatchObject({ type: 'turn.ended', data: { stopReason: 'interrupted' } });
  });
});

describe('S5: damaged files are made again from the log', () => {
  test('the files have the state after each turn, and the link `newest` leads to them', async () => {
    const session = await all.create();
    await turn(session, 'say Hello world');
    await session.cancel();
    await session.flush();
    expect(readlinkSync(join(all.folder, 'newest'))).toBe(session.id);
    const path = join(all.folder, 'newest');
    expect(JSON.parse(readFileSync(join(path, 'session.json'), 'utf8'))).toEqual({
      ...{ sessionId: session.id, agent: 'demo', cwd: '/workspace' },
      ...{ createdAt: session.fold.createdAt, updatedAt: session.fold.updatedAt },
    });
    expect(JSON.parse(readFileSync(join(path, 'messages.json'), 'utf8'))).toMatchObject([
      { role: 'user', parts: [{ type: 'text', text: 'say Hello world' }] },
      { role: 'assistant', parts: [{ type: 'text', text: 'Helloworld' }] },
    ]);
  });

  test('files that are damaged or missing are made again from the log, with a note', async () => {
    const session = await all.create();
    await turn(session, 'say Hello');
    await session.flush();
    const before = readFileSync(join(all.folder, session.id, 'messages.json'), 'utf8');
    writeFileSync(join(all.folder, session.id, 'messages.json'), '[{"id":');
    rmSync(join(all.folder, session.id, 'session.json'));
    await all.reopen();
    const after = JSON.parse(readFileSync(join(all.folder, session.id, 'messages.json'), 'utf8'));
    expect(after.slice(0, 2)).toEqual(JSON.parse(before));
    const aside = readdirSync(join(all.folder, session.id)).find((name) => name.startsWith('damaged-messages.json'));
    expect(readFileSync(join(all.folder, session.id, aside!), 'utf8')).toBe('[{"id":');
    expect(after.slice(2).map((message: { parts: { text: string }[] }) => message.parts[0]!.text)).toEqual([
      'session.json was missing and was made again from the log.',
      `messages.json was damaged: it is now ${aside}, and was made again from the log.`,
    ]);
    expect(existsSync(join(all.folder, session.id, 'session.json'))).toBe(true);
  });

  test('a damaged end of the log is cut at the last whole line, with a note', async () => {
    const session = await all.create();
    await turn(session, 'say Hello');
    const count = session.fold.seq;
    await all.dispose();
    writeFileSync(join(all.folder, session.id, 'events.ndjson'), '{"seq":99}\nhalf', { flag: 'a' });
    const again = (await all.open()).find(session.id);
    expect(all.lines(session.id)).toHaveLength(count + 1);
    expect(again.fold.messages.at(-1)).toMatchObject({
      role: 'system',
      parts: [{ text: expect.stringContaining('15 bytes') }],
    });
  });
});

describe('S7: a log that differs from the copy is replaced', () => {
  test('a log that the host replaces is set aside, and followers continue after their position', async () => {
    const sessions = await all.open();
    const session = await all.create();
    await turn(session, 'say one');
    const copy = readFileSync(join(all.folder, session.id, 'events.ndjson'), 'utf8')
      .trim()
      .split('\n');
    await turn(session, 'say two');
    const end = new AbortController();
    const followed = sessions.followAll({ [session.id]: copy.length }, end.signal)[Symbol.asyncIterator]();
    const restored = await sessions.restore(session.id, each(copy));
    expect(restored.fold.seq).toBe(copy.length + 1);
    let last: LoggedEvent;
    do last = (await followed.next()).value;
    while (last.event.type !== 'session.note');
    expect(last.event.data).toMatchObject({ text: expect.stringContaining("differed from the host's copy") });
    end.abort();
    expect(readdirSync(join(all.folder, session.id)).some((name) => name.startsWith('damaged-events'))).toBe(true);
  });

  test('a log of another session is refused, and the present log is kept', async () => {
    const sessions = await all.open();
    const session = await all.create();
    await turn(session, 'say one');
    const other = await all.create();
    const copy = all.lines(other.id).map((event) => JSON.stringify(event));
    await expect(sessions.restore(session.id, each(copy))).rejects.toMatchObject({ code: 'invalid' });
    expect(await turn(session, 'say two')).toMatchObject({ data: { stopReason: 'end_turn' } });
  });
});
