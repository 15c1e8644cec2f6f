import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TestProxy } from '../../../../../test/fixtures/proxy.ts';
import { soon } from '../../../../../test/fixtures/soon.ts';
import { createForwarder } from '../../credential/forwarder.ts';
import type { IdentityKind } from '../../model/service.ts';
import { takeService } from './service.ts';

let proxy: TestProxy;
let folder: string;
const close: (() => void)[] = [];

beforeEach(async () => {
  proxy = await TestProxy.open({ allow: [] });
  folder = mkdtempSync(join(tmpdir(), 'carrel-service-'));
});
afterEach(() => {
  for (const one of close.splice(0)) one();
  proxy.close();
  rmSync(folder, { recursive: true });
});

/** Starts a service that echoes everything, and a port that leads to it. */
async function serve(identity: IdentityKind = 'line'): Promise<{ heard: () => string; dial: () => Socket }> {
  const path = join(folder, 'hub.sock');
  const heard: Buffer[] = [];
  const service = createServer((socket) => {
    // A connection that the proxy closes may be reset while data is unread.
    socket.on('error', () => {});
    socket.on('data', (chunk) => heard.push(chunk)).pipe(socket);
  });
  service.listen(path);
  await once(service, 'listening');
  const grant = { name: 'hub', port: 17_001, to: path, identity };
  proxy.attached.change({ ...proxy.attached.attachment, services: [grant] });
  const door = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    socket.on('error', () => {});
    takeService(proxy.attached, grant, socket, createForwarder());
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  close.push(
    () => service.close(),
    () => door.close(),
  );
  const dial = () => {
    const socket = connect((door.address() as { port: number }).port, '127.0.0.1');
    socket.on('error', () => {});
    close.push(() => socket.destroy());
    return socket;
  };
  return { heard: () => Buffer.concat(heard).toString(), dial };
}

it('a service receives the identity of the caller before the first byte of the client', async () => {
  const { heard, dial } = await serve();
  const socket = dial();
  socket.write('{"id":"other"}\n');
  await soon(() => expect(heard()).toMatch(/\n.*\n/));
  const [first, second] = heard().split('\n');
  expect(JSON.parse(first!)).toEqual({ id: '0123456789abcdef', name: 'box', user: 'ann' });
  expect(JSON.parse(second!)).toEqual({ id: 'other' });
  expect(await proxy.record()).toMatchObject([{ via: 'service', decision: 'allow', rule: 'service hub' }]);
});

it('a connection is cut when its service is not granted any more, and not by other changes', async () => {
  const { dial } = await serve();
  const socket = dial();
  socket.write('hello\n');
  await once(socket, 'data');
  proxy.allow('a.example');
  expect(socket.destroyed).toBe(false);
  proxy.attached.change({ ...proxy.attached.attachment, services: [] });
  await once(socket, 'close');
});

it('an HTTP service gets the caller in each request, and no caller header that the client sent', async () => {
  const { heard, dial } = await serve('headers');
  const socket = dial();
  const claims = ['X-Carrel-Caller', 'x-carrel-caller', 'X_Carrel_Caller', 'X-CARREL-CALLER'];
  const lines = claims.map((name) => `${name}: {"id":"root"}`);
  const head = ['GET /a HTTP/1.1', 'Host: x', 'Connection: keep-alive, X-Carrel-Caller', ...lines, '', ''];
  socket.write(head.join('\r\n'));
  await soon(() => expect(heard()).toContain('\r\n\r\n'));
  const callers = heard()
    .split('\r\n')
    .filter((line) => /carrel.caller/i.test(line));
  expect(callers).toEqual(['x-carrel-caller: {"id":"0123456789abcdef","name":"box","user":"ann"}']);
  expect((await proxy.record())[0]).toMatchObject({ via: 'service', decision: 'allow', rule: 'service hub' });
});

it('a service that does not answer is recorded as such, and its address is not shown inside', async () => {
  const grant = { name: 'gone', port: 17_011, to: join(folder, 'nowhere.sock'), identity: 'headers' } as const;
  proxy.attached.change({ ...proxy.attached.attachment, services: [grant] });
  const door = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) =>
    takeService(proxy.attached, grant, socket, createForwarder()),
  );
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  close.push(() => door.close());
  const socket = connect((door.address() as { port: number }).port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const answer = await text(socket);
  expect(answer).toContain('the service does not answer (ENOENT)');
  expect(answer).not.toContain(folder);
  expect((await proxy.record())[1]).toMatchObject({ reason: 'the service does not answer (ENOENT)' });
});
