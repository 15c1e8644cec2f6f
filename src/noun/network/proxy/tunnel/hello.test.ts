import { createHash, randomBytes } from 'node:crypto';
import { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { hello, helloMessage, record, serverHello, serverNames } from '../../../../../test/fixtures/hello.ts';
import { parseHost } from '../../../../model/host.ts';
import { BadHello, HelloWatch } from './hello.ts';

const retry = serverHello(createHash('sha256').update('HelloRetryRequest').digest());
const settled = serverHello(randomBytes(32));
const data = record(Buffer.from('data'), 23);
const cipherChange = record(Buffer.from([1]), 20);

function watch(host = 'good.test'): HelloWatch {
  return new HelloWatch(parseHost(host));
}

/** The client hello of Node's own TLS. */
async function realHello(servername: string): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = new Duplex({
      read: () => {},
      write: (chunk: Buffer) => resolve(chunk),
    });
    connect({ socket, servername }).on('error', () => {});
  });
}

describe('a hello that names the host', () => {
  it('of a real client passes as it came', async () => {
    const bytes = await realHello('good.test');
    expect(watch().fromClient(bytes)).toEqual(bytes);
  });

  it('passes byte by byte, once it is whole', () => {
    const [one, bytes] = [watch(), hello({ names: ['good.test'] })];
    const passed = [...bytes].map((byte) => one.fromClient(Buffer.from([byte])));
    expect(Buffer.concat(passed.slice(0, -1))).toHaveLength(0);
    expect(passed.at(-1)).toEqual(bytes);
    expect(one.isNamed).toBe(true);
  });

  it('passes in as many records as it is cut into', () => {
    const message = helloMessage({ names: ['good.test'] });
    for (const size of [1, 3, 50]) {
      const parts = Array.from({ length: Math.ceil(message.length / size) }, (_, at) =>
        record(message.subarray(at * size, (at + 1) * size)),
      );
      const bytes = Buffer.concat(parts);
      expect(watch().fromClient(bytes)).toEqual(bytes);
    }
  });

  it.each([
    ['GOOD.Test', 'good.test'],
    ['good.test.', 'good.test'],
    ['xn--bcher-kva.test', 'bücher.test'],
  ])('as %s passes for %s', (named, host) => {
    expect(watch(host).fromClient(hello({ names: [named] })).length).toBeGreaterThan(0);
  });

  it('is not required if an address was requested', () => {
    expect(watch('192.0.2.1').fromClient(hello({})).length).toBeGreaterThan(0);
  });
});

describe('the parser of a hello refuses', () => {
  const cases: [string, Buffer][] = [
    ['another name', hello({ names: ['evil.test'] })],
    ['a name below', hello({ names: ['a.good.test'] })],
    ['a name with NUL', hello({ names: ['good.test\0.evil.test'] })],
    ['an empty name', hello({ names: [''] })],
    ['no name', hello({})],
    ['two names', hello({ names: ['good.test', 'evil.test'] })],
    ['names twice', hello({ names: ['good.test'], extensions: [[0, serverNames('evil.test')]] })],
    ['a hidden name', hello({ names: ['good.test'], extensions: [[0xfe0d, Buffer.alloc(40)]] })],
    ['a name hidden in the older way', hello({ names: ['good.test'], extensions: [[0xffce, Buffer.alloc(40)]] })],
    ['something that is no host', hello({ extensions: [[0, Buffer.from([0, 4, 1, 0, 1, 65])]] })],
    ['a length that does not fit', hello({ extensions: [[0, Buffer.from([0, 99, 0, 0, 1, 65])]] })],
    ['something behind the hello', record(Buffer.concat([helloMessage({ names: ['good.test'] }), Buffer.from('x')]))],
    [
      'another record in the middle',
      Buffer.concat([record(helloMessage({ names: ['good.test'] }).subarray(0, 9)), data]),
    ],
    ['an empty record', Buffer.concat([record(Buffer.alloc(0)), hello({ names: ['good.test'] })])],
    ['a hello of another kind', record(Buffer.from([16, 0, 0, 0]))],
    ['another version', Buffer.from([22, 2, 0, 0, 1, 1])],
    ['a record too long', Buffer.from([22, 3, 1, 0xff, 0xff, 1])],
    ['a hello too long', record(Buffer.from([1, 0xff, 0xff, 0xff]))],
    ['data before the hello', data],
  ];
  it.each(cases)('%s', (_, bytes) => {
    expect(() => watch().fromClient(bytes)).toThrow(BadHello);
  });

  it('a name if an address was requested', () => {
    expect(() => watch('192.0.2.1').fromClient(hello({ names: ['evil.test'] }))).toThrow(BadHello);
  });

  it('a hello that never ends', () => {
    const one = watch();
    const endless = () => {
      for (let at = 0; at < 100; at += 1)
        one.fromClient(record(Buffer.concat([Buffer.from([1, 0, 0xff, 0xff]), Buffer.alloc(2000)])));
    };
    expect(endless).toThrow(BadHello);
  });
});

describe('a second hello, which a server can request,', () => {
  it('has to name the host, too', () => {
    const one = watch();
    one.fromClient(hello({ names: ['good.test'] }));
    one.fromServer(retry);
    expect(one.isOver).toBe(false);
    expect(one.fromClient(cipherChange)).toEqual(cipherChange);
    expect(() => one.fromClient(hello({ names: ['evil.test'] }))).toThrow(BadHello);
  });

  it('passes if it names the host, and then everything passes', () => {
    const one = watch();
    const bytes = hello({ names: ['good.test'] });
    one.fromClient(bytes);
    one.fromServer(retry);
    expect(one.fromClient(bytes)).toEqual(bytes);
    expect(one.isOver).toBe(true);
    expect(one.fromClient(Buffer.from('anything'))).toEqual(Buffer.from('anything'));
  });

  it('is checked after early data, and before the server answers', () => {
    const early = watch();
    early.fromClient(Buffer.concat([hello({ names: ['good.test'] }), data]));
    expect(() => early.fromClient(hello({ names: ['evil.test'] }))).toThrow(BadHello);
    const late = watch();
    late.fromClient(hello({ names: ['good.test'] }));
    late.fromClient(data);
    for (const byte of retry) late.fromServer(Buffer.from([byte]));
    expect(() => late.fromClient(hello({ names: ['evil.test'] }))).toThrow(BadHello);
  });

  it('comes only once', () => {
    const one = watch();
    const bytes = hello({ names: ['good.test'] });
    one.fromClient(bytes);
    one.fromClient(bytes);
    expect(() => one.fromClient(bytes)).toThrow(BadHello);
  });
});

describe('the inspection is over when the server has answered', () => {
  it.each([
    ['with a hello', settled],
    ['with an alert', Buffer.from([21, 3, 3, 0, 2, 2, 40])],
  ])('%s', (_, answer) => {
    const one = watch();
    one.fromClient(hello({ names: ['good.test'] }));
    one.fromServer(answer);
    expect(one.isOver).toBe(true);
    // The next bytes of a TLS 1.2 client look like a handshake record but are encrypted.
    const encrypted = record(Buffer.from([1, 2, 3, 4]));
    expect(one.fromClient(encrypted)).toEqual(encrypted);
  });

  it('and data that was held back until then is released', () => {
    const one = watch();
    one.fromClient(hello({ names: ['good.test'] }));
    expect(one.fromClient(data.subarray(0, 3))).toHaveLength(0);
    one.fromServer(settled);
    expect(one.release()).toEqual(data.subarray(0, 3));
  });
});
