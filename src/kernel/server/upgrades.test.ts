import { EventEmitter, once } from 'node:events';
import type http from 'node:http';
import { Duplex } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ServedApp, serve } from '../../../test/fixtures/served.ts';
import { soon } from '../../../test/fixtures/soon.ts';
import { streamProtocol } from '../../lib/wire/stream.ts';
import { serveUpgrades } from './upgrades.ts';

let { app, served, policy, call, dispose }: ServedApp = {} as ServedApp;
beforeEach(() => {
  ({ app, served, policy, call, dispose } = serve());
});
afterEach(() => dispose());

test('a client that disconnects before its stream opens is audited as cancelled', async () => {
  await call('POST', '/v1/sandboxes', { name: 'a' });
  const server = new EventEmitter();
  serveUpgrades(server as http.Server, served, policy);
  const socket = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() });
  await once(socket.destroy(), 'close');
  const headers = { upgrade: streamProtocol };
  server.emit('upgrade', { method: 'POST', url: '/v1/sandboxes/a/exec', headers, socket }, socket, Buffer.alloc(0));
  const auditLog = async () => (await app.request('/v1/audit')).text();
  await soon(async () => expect(await auditLog()).toMatch(/"sandbox.exec".*"cancelled"/));
});

test.each([
  [['nosuch'], 'Its command could not be started; see: carrel logs a'],
  [['true'], 'Start it with: carrel start a'],
])('exec in a sandbox whose command %j has ended is refused with a hint', async (command, hint) => {
  await call('POST', '/v1/sandboxes', { name: 'a', command });
  await soon(async () =>
    expect((await call('GET', '/v1/sandboxes/a')).body).toHaveProperty('exitCode', expect.any(Number)),
  );
  const server = new EventEmitter();
  serveUpgrades(server as http.Server, served, policy);
  let received = '';
  const write = (chunk: Buffer, _encoding: string, done: () => void) => {
    received += chunk;
    done();
  };
  const socket = new Duplex({ read: () => {}, write });
  const headers = { upgrade: streamProtocol };
  server.emit('upgrade', { method: 'POST', url: '/v1/sandboxes/a/exec', headers, socket }, socket, Buffer.alloc(0));
  await soon(async () => expect(received).toContain(hint));
});
