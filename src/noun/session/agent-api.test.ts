import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AgentApi } from './agent-api.ts';

let server: Server;
let dials = 0;
let requests = 0;
/** The server ends the connection when this request arrives, without an answer. */
let lostAt = 0;
let api: AgentApi;

beforeEach(async () => {
  [dials, requests, lostAt] = [0, 0, 0];
  server = createServer((request, response) => {
    requests += 1;
    if (requests === lostAt) request.socket.destroy();
    else response.end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  api = new AgentApi(dial, 'token', 2000);
});

afterEach(() => {
  api.close();
  server.close();
  server.closeAllConnections();
});

function dial(): Promise<Socket> {
  dials += 1;
  return new Promise((resolve, reject) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => resolve(socket));
    socket.once('error', reject);
  });
}

const ask = () => api.call({ method: 'POST', path: '/sessions', body: {} });

test('requests one after the other use one connection', async () => {
  for (let round = 0; round < 5; round += 1) await ask();
  expect([dials, requests]).toEqual([1, 5]);
});

test('a request whose kept connection ends is sent again on a new one', async () => {
  await ask();
  lostAt = 2;
  await ask();
  expect([dials, requests]).toEqual([2, 3]);
});

test('a request whose new connection ends is not sent again', async () => {
  lostAt = 1;
  await expect(ask()).rejects.toMatchObject({ code: 'unavailable' });
  expect([dials, requests]).toEqual([1, 1]);
});
