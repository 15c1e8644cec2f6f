import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { connect as connectPlain } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Forwarding, host, real } from '../../../../test/fixtures/forwarding.ts';

let to: Forwarding;

beforeEach(async () => {
  to = await Forwarding.open();
});
afterEach(() => to.dispose());

const get = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';

describe('a request', () => {
  it('has the header with the key, and the method, path, body and other headers of the client', async () => {
    const response = await fetch(`${to.url}/v1/x?y=1`, { method: 'POST', body: 'ping', headers: { 'x-other': 'o' } });
    expect([response.status, await response.text()]).toEqual([200, 'hello']);
    const { request, body } = to.received[0]!;
    expect([request.method, request.url, await body]).toEqual(['POST', '/v1/x?y=1', 'ping']);
    expect([to.seen('authorization'), to.seen('host'), to.seen('x-other')]).toEqual([[real], [host], ['o']]);
  });

  it('names the port of the host if it is not the default', async () => {
    await to.reopen({ port: 8443 });
    await fetch(to.url);
    expect(to.seen('host')).toEqual([`${host}:8443`]);
  });

  it.each([
    'Authorization: Bearer mine',
    'AUTHORIZATION: Bearer mine\r\nauthorization: Bearer mine',
    'aUTHORIZATION:Bearer mine',
    'authorization:',
    'Connection: close, authorization\r\nAuthorization: Bearer mine',
  ])('does not pass on a value that the client sends in that header: %j', async (lines) => {
    await to.raw(`${get}${lines}\r\n\r\n`);
    expect(to.seen('authorization')).toEqual([real]);
  });

  it('does not pass on headers that servers could take for that header, nor other keys', async () => {
    await to.reopen({ header: 'x-api-key', value: 'real', drops: ['authorization'] });
    await to.raw(`${get}X_Api_Key: a\r\nx_api-key: b\r\nX-API-KEY: c\r\nAuthorization: d\r\n\r\n`);
    const { rawHeaders } = to.received[0]!.request;
    expect(rawHeaders.filter((word) => /key|auth/i.test(word))).toEqual(['x-api-key']);
    expect(to.seen('x-api-key')).toEqual(['real']);
  });

  it('has the second header of the credential, and no value that the client sends in it', async () => {
    await to.reopen({ also: ['x-account', 'a1'] });
    await to.raw(`${get}X-Account: other\r\nx_account: other\r\n\r\n`);
    expect([to.seen('authorization'), to.seen('x-account'), to.seen('x_account')]).toEqual([[real], ['a1'], []]);
  });

  it('passes below the folder of the credential', async () => {
    await to.reopen({ paths: ['/api/codex/'] });
    for (const path of ['/api/codex/responses', '/api/codex/a/b.c:d?x=../..']) {
      expect((await fetch(to.url + path)).status).toBe(200);
    }
    expect(to.received.map(({ request }) => request.url)).toEqual([
      '/api/codex/responses',
      '/api/codex/a/b.c:d?x=../..',
    ]);
  });

  it.each([
    ...['/', '*', '/api/codex', '/api/codexx/a', '/API/codex/a', '/api/codex/', '/api/codex/a/', '//api/codex/a'],
    ...['/api/codex/../chats', '/api/codex/a/../../chats', '/api/codex/.', '/api/codex/..', '/api/codex/..;/chats'],
    ...[
      '/api/codex/%2e%2e/chats',
      '/api/codex/a%2f..',
      '/api/codex//chats',
      '/api/codex/\\..\\chats',
      '/api/codex/#/../chats',
    ],
  ])('is refused outside of the folder of the credential: %s', async (path) => {
    await to.reopen({ paths: ['/api/codex/'] });
    const answer = await to.raw(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 400 .*this credential is for api.example.org\/api\/codex\/ alone/s);
    expect(to.received).toEqual([]);
  });

  it.each([
    ...['/v1/message', '/v1/messages/', '/v1/messages/batches', '/v1/messages/../sessions', '/v1/messages%2fbatches'],
    ...['/v1/sessions', '/v1/Messages', '//v1/messages', '/v1/messages/count_tokens/..', '/v1/messages#/sessions'],
  ])('is refused for another path than those of the credential: %s', async (path) => {
    await to.reopen({ paths: ['/v1/messages', '/v1/messages/count_tokens'] });
    const answer = await to.raw(`POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(
      / 400 .*for api.example.org\/v1\/messages and api.example.org\/v1\/messages\/count_tokens alone/s,
    );
    expect(to.received).toEqual([]);
  });

  it('passes for each path of the credential, with any query', async () => {
    await to.reopen({ paths: ['/v1/messages', '/v1/messages/count_tokens'] });
    const urls = ['/v1/messages', '/v1/messages?beta=true', '/v1/messages/count_tokens?/../x'];
    for (const url of urls) expect((await fetch(to.url + url)).status).toBe(200);
    expect(to.received.map(({ request }) => request.url)).toEqual(urls);
  });

  it('to become a WebSocket is refused outside of the folder of the credential, too', async () => {
    await to.reopen({ paths: ['/api/codex/'] });
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
    expect(await to.raw(`GET /api/chats HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n`)).toMatch(/^HTTP\/1.1 400 /);
    expect(to.received).toEqual([]);
  });

  it('does not pass on headers about the connection to the proxy, nor trailers', async () => {
    const lines = [
      'Proxy-Authorization: x',
      'Keep-Alive: x',
      'TE: trailers',
      'X-Named: x',
      'Connection: x-named, close',
    ];
    const chunks = '4\r\nping\r\n0\r\nauthorization: Bearer mine\r\n\r\n';
    await to.raw(`POST / HTTP/1.1\r\nHost: x\r\n${lines.join('\r\n')}\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`);
    const { request, body } = to.received[0]!;
    expect(await body).toBe('ping');
    expect(request.trailers).toEqual({});
    for (const name of ['proxy-authorization', 'te', 'x-named']) expect(to.seen(name)).toEqual([]);
    expect(to.seen('connection')).toEqual(['keep-alive']);
  });

  it.each([
    ['with two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nping'],
    [
      'with a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['with a disguised encoding', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
    ['with an encoding after chunked', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, x\r\n\r\n0\r\n\r\n'],
    ['with a space before the colon', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n'],
    ['with a folded header', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c: d\r\n\r\n'],
    ['with a bare newline', 'GET / HTTP/1.1\nHost: x\n\n'],
    ['with a NUL byte', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n'],
    [
      'with a chunk size that is none',
      'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0x4\r\nping\r\n0\r\n\r\n',
    ],
    ['that would be echoed', 'TRACE / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['with a method of file servers', 'PROPFIND / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['for another host', 'GET https://other.org/ HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['for another host by its authority', 'GET other.org/ HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['for a tunnel', 'CONNECT other.org:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['without a host', 'GET / HTTP/1.1\r\n\r\n'],
    [
      'for another protocol',
      'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n',
    ],
    ['of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['with too long headers', `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(70_000)}\r\n\r\n`],
  ])('is refused %s', async (_, bytes) => {
    expect(await to.raw(bytes)).toMatch(/^$|^HTTP\/1\.1 (4\d\d|501) /);
    expect(to.received).toEqual([]);
  });

  it('that is pipelined is a request of its own, with the header', async () => {
    await to.raw(
      `GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\nAuthorization: mine\r\nConnection: close\r\n\r\n`,
    );
    expect(to.received.map(({ request }) => [request.url, request.headers.authorization])).toEqual([
      ['/1', real],
      ['/2', real],
    ]);
  });

  it('among a thousand pipelined requests ends the connection', async () => {
    to.answer = () => {};
    const socket = connectPlain(to.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1000));
    await once(socket, 'close');
    expect(to.received.length).toBeLessThanOrEqual(1);
  });

  it('without a body has content-length 0 for POST, and none for GET', async () => {
    await to.raw(`POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect([to.seen('content-length'), to.seen('transfer-encoding')]).toEqual([['0'], []]);
    await to.raw(`GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect([to.seen('content-length'), to.seen('transfer-encoding')]).toEqual([[], []]);
  });

  it('after another uses the same connection to the host', async () => {
    const agent = new Agent({ keepAlive: true });
    for (const path of ['/1', '/2', '/3']) {
      const [response] = await once(httpRequest({ port: to.port, path, agent }).end(), 'response');
      await text(response);
    }
    agent.destroy();
    expect([to.received.length, to.service.connections]).toEqual([3, 1]);
  });
});
