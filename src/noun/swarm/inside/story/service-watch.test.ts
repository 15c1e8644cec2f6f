import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { AdapterError } from '../../../agent/inside/adapter-error.ts';
import { probeOf, requireService, ServiceWatch } from './service-watch.ts';

const service = { place: 'api.anthropic.com:443', base: 'ANTHROPIC_BASE_URL' };
const limits = { quietMs: 1, againMs: 1, answerMs: 1000 };
const going = new AbortController().signal;
let server: Server | null = null;

async function open(listener: RequestListener): Promise<string> {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(() => {
  server?.close();
  server?.closeAllConnections();
  server = null;
});

const ask = (env: Record<string, string>) => probeOf({ service }, env)!(going);

describe('a probe of the base URL of a credential', () => {
  test.each([200, 401, 404, 502, 529])('succeeds with any answer of the service: %i', async (status) => {
    const url = await open((_, response) =>
      response.writeHead(status).end('{"type":"error","error":{"type":"other"}}'),
    );
    expect(await ask({ ANTHROPIC_BASE_URL: url })).toBeNull();
  });

  test('reports an error of the proxy itself', async () => {
    const error = { type: 'carrel_unavailable', message: 'carrel: no connection to api.anthropic.com: ENOTFOUND' };
    const url = await open((_, response) => response.writeHead(502).end(JSON.stringify({ type: 'error', error })));
    expect(await ask({ ANTHROPIC_BASE_URL: url })).toBe('no connection to api.anthropic.com: ENOTFOUND');
  });

  test('reports a refused connection', async () => {
    expect(await ask({ ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' })).toContain('ECONNREFUSED');
  });
});

test('a refusal of the proxy to connect to the service is reported', async () => {
  const url = await open(() => {});
  const targets: string[] = [];
  server!.on('connect', (request, socket) => {
    targets.push(request.url ?? '');
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  expect(await ask({ HTTPS_PROXY: url })).toBe('no connection to api.anthropic.com:443: the proxy answers 403');
  expect(await ask({ HTTPS_PROXY: url, ANTHROPIC_BASE_URL: 'https://gateway.org/v1' })).toContain('gateway.org:443');
  expect(targets).toEqual(['api.anthropic.com:443', 'gateway.org:443']);
});

test('an agent is not probed if its service or the route to that is unknown', () => {
  expect([probeOf({}, {}), probeOf({ service }, {})]).toEqual([null, null]);
});

test('a failed request is retried; repeated failure is SERVICE_UNREACHABLE with the reason', async () => {
  const answers = ['no', 'no', null];
  await expect(requireService(async () => answers.shift() ?? null, going, limits)).resolves.toBeUndefined();
  await expect(requireService(async () => 'no connection', going, limits)).rejects.toMatchObject({
    ...{ code: 'UNKNOWN_ERROR', message: 'SERVICE_UNREACHABLE: no connection' },
  });
});

test('the service is probed while an agent is quiet, until the service is lost', async () => {
  const answers: (string | null)[] = [null, 'gone', 'gone', 'gone'];
  const lost = await new Promise((resolve) => {
    new ServiceWatch(async () => answers.shift() ?? null, resolve, limits);
  });
  expect(lost).toBeInstanceOf(AdapterError);
  expect(answers).toEqual([]);
});
