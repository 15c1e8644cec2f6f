import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { AcpPeer } from './peer.ts';

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
    const asked = peer.request('session/prompt', {});
    if (isSeenFirst) await new Promise((resolve) => input.end(resolve));
    if (isSeenFirst) await peer.closed;
    fail(broken);
    await expect(asked).rejects.toMatchObject({ name: 'AgentLost', isUnsent: true });
    input.end();
    await peer.closed;
    await expect(peer.request('session/prompt', {})).rejects.toMatchObject({ isUnsent: true });
  }
});

test('a request that was written before the agent ended does not count as unsent', async () => {
  const input = new PassThrough();
  const peer = new AcpPeer(input, outputTo(Promise.resolve(null)), handlers);
  const asked = peer.request('session/prompt', {});
  input.end();
  await expect(asked).rejects.toMatchObject({ name: 'AgentLost', isUnsent: false });
});
