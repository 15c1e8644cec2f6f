import type { ServerContext } from '@modelcontextprotocol/server';
import { expect, it } from 'vitest';
import { CallProgress } from './call-progress.ts';

function contextOf(
  request: object,
  more: object = {},
): { context: ServerContext; log: string[]; reply: ReturnType<typeof deferred> } {
  const log: string[] = [];
  const reply = deferred();
  const notify = async ({ params }: { params: { message: string } }) => void log.push(params.message);
  const send = ({ method }: { method: string }) => {
    log.push(method);
    return reply.promise;
  };
  const { signal } = new AbortController();
  return { context: { mcpReq: { notify, send, signal, ...request }, ...more } as unknown as ServerContext, log, reply };
}

const withProgress = { _meta: { progressToken: 1 } };

it('a client confirms progress before the answer', async () => {
  const { context, log, reply } = contextOf(withProgress);
  const progress = new CallProgress(context);
  progress.report('one');
  const read = progress.read().then(() => log.push('answer'));
  await Promise.resolve();
  expect(log).toEqual(['one', 'ping']);
  reply.resolve({});
  await read;
  expect(log).toEqual(['one', 'ping', 'answer']);
});

it('a client that does not reply gets its answer', async () => {
  const { context, reply } = contextOf(withProgress);
  const progress = new CallProgress(context);
  progress.report('one');
  reply.reject(new Error('timed out'));
  await expect(progress.read()).resolves.toBeUndefined();
});

it.each([
  ['did not ask for progress', {}, {}, []],
  ['takes no requests', { ...withProgress, envelope: {} }, {}, ['one']],
  ['reads events over HTTP', withProgress, { http: {} }, ['one']],
])('a client that %s gets no ping', async (_, request, more, expected) => {
  const { context, log } = contextOf(request, more);
  const progress = new CallProgress(context);
  progress.report('one');
  await progress.read();
  expect(log).toEqual(expected);
});

it('a flood of progress messages is limited before it reaches the client', () => {
  const { context, log } = contextOf(withProgress);
  const progress = new CallProgress(context);
  for (let n = 0; n < 100; n += 1) progress.report('x'.repeat(64 * 1024));
  expect(log.length).toBeLessThan(20);
});

function deferred() {
  let [resolve, reject]: [(value: object) => void, (error: Error) => void] = [() => {}, () => {}];
  const promise = new Promise<object>((done, failed) => {
    [resolve, reject] = [done, failed];
  });
  return { promise, resolve, reject };
}
