import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { AcpPeer, type PeerHandlers } from './peer.ts';

const handlers = { notified: async () => {}, requested: () => null };

/** An output whose writes end with this result when the test resolves it. */
function outputTo(fail: Promise<Error | null>): Writable {
  const output = new Writable({ write: (_chunk, _encoding, done) => void fail.then(done) });
  return output.on('error', () => {});
}

const broken = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });

test('a request that could not be written counts as unsent, even if the end of the agent is seen first', async () => {
  for (const isSeenFirst of [false, true]) {
    const input = new PassThrough();
    let fail = (_: Error | null) => {};
    const peer = new AcpPeer(input, outputTo(new Promise((resolve) => (fail = resolve))), handlers);
    const answer = peer.request('session/prompt', {});
    if (isSeenFirst) await new Promise((resolve) => input.end(resolve));
    if (isSeenFirst) await peer.closed;
    fail(broken);
    await expect(answer).rejects.toMatchObject({ name: 'AgentLost', isUnsent: true });
    input.end();
    await peer.closed;
    await expect(peer.request('session/prompt', {})).rejects.toMatchObject({ isUnsent: true });
  }
});

test('a request that was written before the agent ended does not count as unsent', async () => {
  const input = new PassThrough();
  const peer = new AcpPeer(input, outputTo(Promise.resolve(null)), handlers);
  const answer = peer.request('session/prompt', {});
  input.end();
  await expect(answer).rejects.toMatchObject({ name: 'AgentLost', isUnsent: false });
});

/** A peer whose agent is the test: it sends text, and reads the messages of the peer. */
function peerOf(taken: Partial<PeerHandlers> = {}) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const peer = new AcpPeer(input, output, { ...handlers, ...taken });
  const sent: unknown[] = [];
  output.on('data', (chunk: Buffer) => {
    sent.push(
      ...chunk
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    );
  });
  const end = async (text = '') => {
    input.end(text);
    return peer.closed;
  };
  return { peer, input, sent, end };
}

test('an unknown method is answered with -32601, an unknown notification not at all', async () => {
  const { sent, end } = peerOf();
  await end('{"jsonrpc":"2.0","id":"a","method":"terminal/create"}\n{"jsonrpc":"2.0","method":"of/next_year"}\n');
  expect(sent).toEqual([
    { jsonrpc: '2.0', id: 'a', error: { code: -32_601, message: 'there is no method terminal/create' } },
  ]);
});

test('a request whose handler fails is answered with -32603', async () => {
  const { sent, end } = peerOf({ requested: () => Promise.reject(new Error('broken')) });
  await end('{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":null}\n');
  expect(sent).toEqual([{ jsonrpc: '2.0', id: 1, error: { code: -32_603, message: 'broken' } }]);
});

test('lines that are no messages, and answers to no request, are skipped', async () => {
  const { peer, end } = peerOf();
  const answer = peer.request('initialize', {});
  const late = ['{"id":99,"result":1}', '{"id":"1","result":1}', '{"id":null,"error":{"code":-32700,"message":"x"}}'];
  const lines = ['this is not JSON', '', '[]', 'null', '7', '{}', ...late, '{"id":1,"result":"first"}'];
  await end([...lines, '{"id":1,"result":"second"}', ''].join('\r\n'));
  expect(await answer).toBe('first');
});

test('the last line of an agent counts without its line break', async () => {
  const { peer, end } = peerOf();
  const answer = peer.request('initialize', {});
  await end('{"id":1,"result":"done"}');
  expect(await answer).toBe('done');
});

test('messages may arrive byte by byte, and several in one chunk', async () => {
  const { peer, input, end } = peerOf();
  const answers = ['one', 'two', 'three'].map((method) => peer.request(method, {}));
  for (const byte of Buffer.from('{"id":1,"result":"\u20ac"}\n{"id"')) input.write(Buffer.of(byte));
  await end(':2,"result":2}\n{"id":3,"result":3}\n');
  expect(await Promise.all(answers)).toEqual(['\u20ac', 2, 3]);
});

test('an error of the agent has its code and its details, whatever their shape', async () => {
  const { peer, end } = peerOf();
  const answers = ['one', 'two'].map((method) => peer.request(method, {}).catch((error: unknown) => error));
  const error = { code: -32_000, message: 'no', data: { details: 'log in' } };
  await end(`${JSON.stringify({ id: 1, error })}\n{"id":2,"error":true}\n`);
  expect(await Promise.all(answers)).toMatchObject([
    { name: 'RpcError', code: -32_000, message: 'no: log in' },
    { name: 'RpcError', message: 'the agent answered with an error' },
  ]);
});

test.each([
  ['a line without an end', 17, Buffer.alloc(1024 ** 2, 'x'), 'a message of more than 16777216 bytes'],
  ['brackets', 1, Buffer.concat([Buffer.alloc(200_000, '['), Buffer.from('\n')]), 'a message that is too large'],
])('an agent that sends %s is lost, with its open requests', async (_, count, chunk, reason) => {
  const { peer, input, end } = peerOf();
  const answer = peer.request('session/prompt', {}).catch((error: unknown) => error);
  for (let n = 0; n < count; n += 1) input.write(chunk);
  expect(String(await end())).toContain(reason);
  expect(await answer).toMatchObject({ name: 'AgentLost', isUnsent: false });
});

test('at most 200 requests of an agent are open', async () => {
  const answers: (() => void)[] = [];
  const { sent, end } = peerOf({ requested: () => new Promise((resolve) => answers.push(() => resolve({}))) });
  const lines = Array.from({ length: 201 }, (_, id) => `{"id":${id},"method":"session/request_permission"}`);
  await end(`${lines.join('\n')}\n`);
  expect([answers.length, sent]).toMatchObject([200, [{ id: 200, error: { message: 'too many requests are open' } }]]);
});
