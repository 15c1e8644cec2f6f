import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect as connectPlain, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Forwarding, host, real } from '../../../../test/fixtures/forwarding.ts';

let to: Forwarding;

beforeEach(async () => {
  to = await Forwarding.open();
});
afterEach(() => to.dispose());

describe('a WebSocket', () => {
  const handshake = `GET /live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\nSec-WebSocket-Version: 13\r\nAuthorization: mine\r\n\r\n`;

  it('is opened with the header, and passed both ways', async () => {
    let received!: IncomingMessage;
    to.service.server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
      received = request;
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: a\r\n\r\nfirst',
      );
      socket.on('data', (chunk) => socket.end(`got ${chunk}`));
    });
    const socket = connectPlain(to.port, '127.0.0.1');
    socket.write(`${handshake}early`);
    const all = await text(socket);
    expect(all).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
    expect(all.toLowerCase()).toContain('sec-websocket-accept: a\r\n');
    expect(all).toMatch(/\r\n\r\nfirstgot early$/);
    expect(received.headers).toMatchObject({ authorization: real, upgrade: 'websocket', host });
  });

  it('that the service refuses is refused with the response of the service', async () => {
    to.service.server.on('upgrade', (_: IncomingMessage, socket: Socket) => {
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
    });
    expect(await to.raw(handshake)).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n[\s\S]*\r\n\r\nno$/);
  });

  it.each(['101 Switching Protocols', '403 the-real-one'])(
    'is refused if the head of %s has the key',
    async (status) => {
      to.service.server.on('upgrade', (_: IncomingMessage, socket: Socket) => {
        const head = ['Connection: Upgrade', 'Upgrade: websocket', 'X-Echo: the-real-one', 'Content-Length: 0'];
        socket.write(`HTTP/1.1 ${status}\r\n${head.join('\r\n')}\r\n\r\n`);
      });
      const answer = await to.raw(handshake);
      expect(answer).toMatch(/^HTTP\/1\.1 502 Refused\r\n/);
      expect(answer).not.toContain('the-real-one');
    },
  );

  it('is closed on the side of the service when the client closes it', async () => {
    const closed = new Promise((resolve) => {
      to.service.server.on('upgrade', (_: IncomingMessage, socket: Socket) => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
        socket.once('close', resolve);
        socket.on('error', () => {});
      });
    });
    const socket = connectPlain(to.port, '127.0.0.1');
    socket.write(handshake);
    await once(socket, 'data');
    socket.destroy();
    await closed;
  });
});
