import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { maxAnswerBytes } from '../model/spoke.ts';
import { SpokeConnection } from './spoke.ts';

function connected(endOf?: () => Promise<string>) {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const connection = new SpokeConnection({ stdin, stdout }, 'project shop', endOf);
  const say = (text: string) => stdout.write(`${text}\n`);
  const sent = () =>
    String(stdin.read() ?? '')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
  return { connection, stdin, stdout, say, sent };
}

type Say = ReturnType<typeof connected>['say'];
const list = { path: '', depth: 1, limit: 1 };
const page = { items: [], more: false };

describe('a call', () => {
  it('is answered by its id, in any order', async () => {
    const { connection, say, sent } = connected();
    const first = connection.call('file/list', list);
    const second = connection.call('file/list', { ...list, path: 'b' });
    expect(sent()).toEqual([
      { id: 1, method: 'file/list', asked: list },
      { id: 2, method: 'file/list', asked: { ...list, path: 'b' } },
    ]);
    say(JSON.stringify({ id: 2, result: { ...page, more: true } }));
    say(JSON.stringify({ id: 1, result: page }));
    expect(await Promise.all([first, second])).toEqual([page, { ...page, more: true }]);
  });

  it('rejects with the Fault that the spoke sent', async () => {
    const { connection, say } = connected();
    const call = connection.call('file/list', list);
    say(JSON.stringify({ id: 1, fault: { code: 'not_found', message: 'no a', hint: 'look' } }));
    await expect(call).rejects.toMatchObject({ code: 'not_found', message: 'no a', hint: 'look' });
  });

  it('passes output to its caller while it runs', async () => {
    const { connection, say } = connected();
    const seen: string[] = [];
    const call = connection.call('file/list', list, { onOutput: (text) => seen.push(text) });
    say('{"id":1,"output":"a"}');
    say(JSON.stringify({ id: 1, result: page }));
    await call;
    expect(seen).toEqual(['a']);
  });

  it.each([
    ['a line without end', (stdout: PassThrough) => void stdout.write('"'.padEnd(1024 ** 2, 'x'))],
    ['output without end', (_: PassThrough, say: Say) => void say(`{"id":1,"output":"${'x'.repeat(1024 ** 2)}"}`)],
    [
      'lines that belong to no call',
      (_: PassThrough, say: Say) => void say(`{"id":9,"output":"${'x'.repeat(1024 ** 2)}"}`),
    ],
  ])('fails when the spoke sends %s', async (_, flood) => {
    const { connection, stdout, say } = connected();
    const call = connection.call('file/list', list, { onOutput: () => {} });
    call.catch(() => {});
    for (let n = 0; n < 100 && !stdout.destroyed; n += 1) {
      flood(stdout, say);
      await new Promise(setImmediate);
    }
    expect(stdout.destroyed).toBe(true);
    await expect(call).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is cancelled in the spoke, too', () => {
    const { connection, sent } = connected();
    const abort = new AbortController();
    connection.call('file/list', list, { signal: abort.signal }).catch(() => {});
    sent();
    abort.abort();
    expect(sent()).toEqual([{ cancel: 1 }]);
  });

  it('fails when the spoke sends nothing for three minutes, not even answers to pings', async () => {
    vi.useFakeTimers();
    const { connection, sent } = connected();
    const call = connection.call('file/list', list).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sent()).toContainEqual({ id: 2, method: 'spoke/ping', asked: {} });
    await vi.advanceTimersByTimeAsync(180_000);
    vi.useRealTimers();
    expect(await call).toMatchObject({ code: 'unavailable' });
  });

  it('fails when the spoke ends, and says how it ended', async () => {
    const { connection, stdout } = connected(async () => 'SIGKILL');
    const call = connection.call('file/list', list);
    stdout.end();
    await expect(call).rejects.toMatchObject({ code: 'unavailable', message: expect.stringMatching(/shop.*SIGKILL/) });
    expect(await new Promise((resolve) => connection.onClose(resolve))).toBe('SIGKILL');
    expect(() => connection.call('file/list', list)).toThrow(/ended/);
  });
});

describe('what a hostile sandbox writes ends the connection', () => {
  it.each([
    ['text that is not JSON', 'hello'],
    ['a result of another shape', '{"id":1,"result":{"items":3}}'],
    ['a code that only the daemon uses', '{"id":1,"fault":{"code":"unauthenticated","message":"x"}}'],
    ['a message of another kind', '{"id":1}'],
    ['an id that is not a number', '{"id":"1","result":{}}'],
    ['an answer with so many values that parsing it would block', `{"id":1,"result":[${'{},'.repeat(200_000)}{}]}`],
    ['a line without end', 'x'.repeat(maxAnswerBytes + 1)],
  ])('%s', async (_, line) => {
    const { connection, say } = connected();
    const call = connection.call('file/list', list);
    say(line);
    await expect(call).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('an answer that was not asked for is dropped', async () => {
    const { connection, say } = connected();
    const call = connection.call('file/list', list);
    say('{"id":7,"result":null}');
    say(JSON.stringify({ id: 1, result: page }));
    expect(await call).toEqual(page);
  });
});
