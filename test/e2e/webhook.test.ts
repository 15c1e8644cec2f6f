/** Webhooks: requests to the port that become messages of a room. */
import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { MessageView, RoomDetailView } from '../../src/noun/room/api.ts';
import { Installation, until } from '../harness/installation.ts';

const publicUrl = 'https://phone.example.org/hooks/sms';
let carrel: Installation;
let origin: string;

beforeAll(async () => {
  carrel = new Installation();
  carrel.write(
    'home/config.yaml',
    [
      'webhooks:',
      `  sms: {room: calls, verify: twilio, secret: twilio, url: '${publicUrl}'}`,
      '  ci: {room: calls, verify: hmac, secret: ci-key, header: X-Carrel-Signature, timestamp: X-Carrel-Timestamp}',
      '  door: {room: calls, verify: bearer, secret: ci-key}',
      '  open: {room: missing, verify: bearer, secret: ci-key}',
      '',
    ].join('\n'),
  );
  await carrel.ok('up', '-d', '--port', '0');
  for (const name of ['twilio', 'ci-key']) await carrel.run(['secret', 'set', name], { input: `${name}-value` });
  await carrel.ok('room', 'create', 'calls');
  origin = new URL((await carrel.json<{ mcp: string }>('status')).mcp).origin;
});
afterAll(() => carrel.dispose());

async function messages(): Promise<MessageView[]> {
  return JSON.parse(await carrel.ok('room', 'read', 'calls', '--peek', '--json')) as MessageView[];
}

function sms(fields: Record<string, string>, token = 'twilio-value'): Promise<Response> {
  const names = Object.keys(fields).sort();
  const text = names.map((name) => name + fields[name]).join('');
  const signature = createHmac('sha1', token)
    .update(publicUrl + text)
    .digest('base64');
  const headers = { 'x-twilio-signature': signature, 'content-type': 'application/x-www-form-urlencoded' };
  return fetch(`${origin}/hooks/sms`, { method: 'POST', headers, body: new URLSearchParams(fields).toString() });
}

it('a webhook takes a signed SMS once, refuses a forged one, and counts both', async () => {
  const fields = { From: '+4930123456', MessageSid: 'SM1', Body: 'Call me, @root' };
  const answer = await sms(fields);
  expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
    ...[200, 'text/xml'],
    '<?xml version="1.0" encoding="UTF-8"?><Response/>',
  ]);
  expect((await sms(fields)).status).toBe(200);
  expect((await sms({ ...fields, MessageSid: 'SM2' }, 'guess')).status).toBe(401);
  expect(await messages()).toMatchObject([
    { from: 'sms:+4930123456', via: 'webhook', mentions: ['root'], body: 'Call me, @root' },
  ]);
  const show = async () => (await carrel.json<RoomDetailView>('room', 'show', 'calls')).webhooks[0];
  expect(await show()).toMatchObject({ path: '/hooks/sms', accepted: 2, refused: 1 });
  await carrel.ok('down');
  await carrel.ok('up', '-d', '--port', new URL(origin).port);
  expect((await sms(fields)).status).toBe(200);
  expect(await messages()).toHaveLength(1);
  expect(await show()).toMatchObject({ accepted: 3, refused: 1 });
});

it('a webhook takes requests that another installation sends with --webhook', async () => {
  await carrel.ok('room', 'create', 'source');
  await carrel.ok('room', 'watch', 'source', 'calls', '--webhook', `${origin}/hooks/ci`, '--secret', 'ci-key');
  await carrel.ok('room', 'post', 'source', '@calls over there');
  await until(async () => (await messages()).length === 2, 'the message to arrive');
  expect((await messages())[1]).toMatchObject({ from: 'webhook:ci', body: '@calls over there' });
});

it('a webhook takes requests with the bearer token, and a repeated delivery once', async () => {
  const send = async (token: string, body: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/plain', 'idempotency-key': 'd1' };
    return (await fetch(`${origin}/hooks/door`, { method: 'POST', headers, body })).status;
  };
  const before = (await messages()).length;
  expect([await send('ci-key-value', 'ring'), await send('ci-key-value', 'ring')]).toEqual([202, 202]);
  expect([await send('guess', 'knock'), await send('', 'knock')]).toEqual([401, 401]);
  const taken = (await messages()).slice(before);
  expect(taken.map(({ from, body }) => `${from} ${body}`)).toEqual(['webhook:door ring']);
});

it.each([
  ['a request with an unknown name', '/hooks/none', 404, {}, 'x'],
  ['a request with a path above /hooks', '/hooks/../mcp', 401, {}, 'x'],
  ['a request without a signature', '/hooks/ci', 401, {}, 'x'],
  ['a request for a room that does not exist', '/hooks/open', 503, { authorization: 'Bearer ci-key-value' }, 'x'],
  ['a request whose body is too large', '/hooks/sms', 413, {}, 'x'.repeat(300_000)],
])('a webhook refuses %s', async (_, path, status, headers, body) => {
  expect((await fetch(`${origin}${path}`, { method: 'POST', headers, body })).status).toBe(status);
});

it('a webhook refuses a large body without a content-length', async () => {
  const status = await new Promise((resolve) => {
    const sent = request(`${origin}/hooks/sms`, { method: 'POST' }, (answer) => resolve(answer.statusCode));
    sent.on('error', () => {});
    for (let part = 0; part < 5; part += 1) sent.write('x'.repeat(64 * 1024));
  });
  expect(status).toBe(413);
});
