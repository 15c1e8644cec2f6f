import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttp, type Server as HttpServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createForwarder } from '../../credential/forwarder.ts';
import { defaultNetworkLimits } from '../../model/network.ts';
import { Meter } from '../limit/meter.ts';
import { agentApiCall } from './agent-api-port.ts';

let inside: HttpServer;
let outside: Server;
let url = '';
let answer: (response: ServerResponse) => void;
let seen: { host: string | undefined; authorization: string | undefined; raw: string; body: string }[] = [];

beforeEach(async () => {
  seen = [];
  answer = (response) => void response.end('{}');
  inside = createHttp(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { host, authorization } = request.headers;
    seen.push({ host, authorization, raw: request.rawHeaders.join('\n'), body: Buffer.concat(chunks).toString() });
    answer(response);
  });
  await once(inside.listen(0, '127.0.0.1'), 'listening');
  const forwarder = createForwarder();
  const meter = new Meter(defaultNetworkLimits, 0, () => {});
  outside = createServer({ pauseOnConnect: true }, (client) =>
    forwarder.answer(agentApiCall(client, meter, async () => connect((inside.address() as AddressInfo).port))),
  );
  await once(outside.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`;
});
afterEach(() => {
  inside.close();
  inside.closeAllConnections();
  outside.close();
});

it('the server inside gets the hash of a token, never the token, and the host that the client named', async () => {
  const headers = { authorization: 'Bearer secret-token', 'x-other': 'kept' };
  const response = await fetch(`${url}/sessions`, { method: 'POST', headers, body: 'text' });
  expect([response.status, await response.text()]).toEqual([200, '{}']);
  const hash = createHash('sha256').update('secret-token').digest('hex');
  expect(seen[0]).toMatchObject({ host: url.slice('http://'.length), authorization: `Bearer ${hash}`, body: 'text' });
  expect(seen[0]!.raw).toContain('kept');
  expect(seen[0]!.raw).not.toContain('secret-token');
});

it.each(['Basic secret-token', 'secret-token', 'Bearer secret-token more'])('%s passes no token', async (text) => {
  await fetch(url, { headers: { authorization: text } });
  expect(seen[0]!.authorization).toBe('Bearer');
  expect(seen[0]!.raw).not.toContain('secret-token');
});

it('events pass one by one, as they come', async () => {
  let stream!: ServerResponse;
  answer = (response) => {
    stream = response;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
  };
  const reader = (await fetch(`${url}/events`)).body!.getReader();
  const text = async () => Buffer.from((await reader.read()).value!).toString();
  expect(await text()).toBe('data: 1\n\n');
  stream.write('data: 2\n\n');
  expect(await text()).toBe('data: 2\n\n');
  await reader.cancel();
  await once(stream, 'close');
});
