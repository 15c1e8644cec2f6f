import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestProxy, Upstream } from '../../../../../test/fixtures/proxy.ts';

const greeting = Buffer.from([5, 1, 0]);
let upstream: Upstream;
let proxy: TestProxy;

beforeEach(async () => {
  upstream = await Upstream.open((socket, heard) => socket.on('data', () => void socket.end(`heard ${heard()}`)));
  proxy = await TestProxy.open({
    allow: [`127.0.0.1:${upstream.port}`, `good.test:${upstream.port}`],
    names: { 'good.test': ['127.0.0.1'] },
  });
});
afterEach(() => {
  proxy.close();
  upstream.close();
});

function request(address: Buffer, port: number, command = 1): Buffer {
  const tail = Buffer.alloc(2);
  tail.writeUInt16BE(port);
  return Buffer.concat([Buffer.from([5, command, 0]), address, tail]);
}

function named(name: string | Buffer): Buffer {
  const bytes = Buffer.from(name);
  return Buffer.concat([Buffer.from([3, bytes.length]), bytes]);
}

const ipv4 = (...bytes: number[]) => Buffer.from([1, ...bytes]);
const mapped = Buffer.from([4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 127, 0, 0, 1]);
/** The method that was chosen, and the code of the answer. */
const codes = (answer: string) => [answer.charCodeAt(1), answer.charCodeAt(3)];

describe('SOCKS', () => {
  it.each([
    ['an address', () => ipv4(127, 0, 0, 1)],
    ['the same as IPv6', () => mapped],
    ['a name', () => named('GOOD.test.')],
  ])('connects to %s', async (_, address) => {
    const answer = await proxy.exchange(greeting, request(address(), upstream.port), 'hello there\n');
    expect(codes(answer)).toEqual([0, 0]);
    expect(answer).toMatch(/heard hello there\n$/);
    expect(await proxy.record()).toMatchObject([
      { via: 'socks', decision: 'allow' },
      { sentBytes: 12, receivedBytes: 18 },
    ]);
  });

  it('understands a client that sends one byte after another', async () => {
    const bytes = Buffer.concat([greeting, request(named('good.test'), upstream.port), Buffer.from('hi\n')]);
    expect(await proxy.exchange(...[...bytes].map((byte) => Buffer.from([byte])))).toMatch(/heard h/);
  });

  it.each([
    ['a name without a rule', named('evil.test'), 1, 2],
    ['an address without a rule', ipv4(127, 0, 0, 2), 1, 2],
    ['a name with NUL', named('good.test\0'), 1, 1],
    ['a name that is not ASCII', named(Buffer.from([0xc3, 0xbc])), 1, 1],
    ['an odd address as a name', named('0x7f.1'), 1, 1],
    ['listening', ipv4(127, 0, 0, 1), 2, 7],
    ['datagrams', ipv4(127, 0, 0, 1), 3, 7],
    ['an unknown kind of address', Buffer.from([9, 1, 2, 3, 4]), 1, 8],
  ])('refuses %s', async (_, address, command, code) => {
    const answer = await proxy.exchange(greeting, request(address, upstream.port, command));
    expect(codes(answer)).toEqual([0, code]);
    expect(upstream.connections).toBe(0);
    expect(await proxy.record()).toMatchObject([{ via: 'socks', decision: 'refuse' }]);
  });

  it('refuses a client that requires a password', async () => {
    expect(await proxy.exchange(Buffer.from([5, 1, 2]))).toBe('\x05\xff');
  });

  it('refuses a request that breaks off', async () => {
    const socket = proxy.connect();
    socket.end(Buffer.concat([greeting, Buffer.from([5, 1])]));
    for await (const _ of socket);
    expect(await proxy.record()).toMatchObject([{ decision: 'refuse', reason: 'the SOCKS request is incomplete' }]);
  });
});
