import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Webhook } from './model/webhook.ts';
import { messageOf, twilioSignature } from './webhook.ts';

const secret = Buffer.from('12345');
const nowMs = Date.parse('2026-11-16T12:00:00Z');

describe('Twilio', () => {
  const hook: Webhook = {
    name: 'sms',
    room: 'plans',
    secret: 's',
    verify: 'twilio',
    url: 'https://example.org/hooks/sms',
  };
  const fields = { From: '+4930123456', MessageSid: 'SM1', Body: 'hello ünï', To: '+1800' };
  const signed = (change: Record<string, string> = {}) => {
    const text = `${hook.url}Bodyhello ünïFrom+4930123456MessageSidSM1To+1800`;
    const signature = createHmac('sha1', '12345').update(text).digest('base64');
    const body = Buffer.from(new URLSearchParams({ ...fields, ...change }).toString());
    return { headers: { 'x-twilio-signature': signature }, body };
  };

  test('the signature is that of the published example', () => {
    const example = {
      CallSid: 'CA1234567890ABCDE',
      Caller: '+12349013030',
      Digits: '1234',
      From: '+12349013030',
      To: '+18005551212',
    };
    const url = 'https://mycompany.com/myapp.php?foo=1&bar=2';
    expect(twilioSignature(url, new URLSearchParams(example), secret)).toBe('0/KCTR6DLpKmkAf8muzZqo1nDgQ=');
  });

  test('a signed SMS is a message of its number, and its id is the key', () => {
    expect(messageOf(hook, secret, signed(), nowMs)).toEqual({
      ...{ from: { kind: 'service', name: 'sms:+4930123456' }, via: 'webhook', body: 'hello ünï' },
      key: 'hook:sms:SM1',
    });
  });

  test.each([
    ['another text', { Body: 'pay' }],
    ['another sender', { From: '+1' }],
    ['another id', { MessageSid: 'SM2' }],
    ['another field', { Extra: '' }],
  ])('a request with %s than the signed one is refused', (_, change) => {
    expect(() => messageOf(hook, secret, signed(change), nowMs)).toThrow('signature');
  });

  test('a request without a signature, or signed with another token, is refused', () => {
    expect(() => messageOf(hook, secret, { ...signed(), headers: {} }, nowMs)).toThrow('x-twilio-signature');
    expect(() => messageOf(hook, Buffer.from('other'), signed(), nowMs)).toThrow('signature');
  });
});

describe('HMAC', () => {
  const hook: Webhook = { name: 'ci', room: 'plans', secret: 's', verify: 'hmac', header: 'x-sig', timestamp: null };
  const timed: Webhook = { ...hook, timestamp: 'x-time' };
  const hex = (text: string) => createHmac('sha256', '12345').update(text).digest('hex');
  const json = { 'content-type': 'application/json' };

  test.each([
    ['{"text":"built"}', 'built'],
    ['"built"', 'built'],
    ['{"n":1}', '```json\n{\n  "n": 1\n}\n```'],
    ['{"n":"```"}', '````json\n{\n  "n": "```"\n}\n````'],
  ])('the document %s becomes its text, or a block of code', (text, body) => {
    const request = { headers: { ...json, 'x-sig': `sha256=${hex(text)}` }, body: Buffer.from(text) };
    expect(messageOf(hook, secret, request, nowMs)).toMatchObject({
      body,
      from: { kind: 'service', name: 'webhook:ci' },
    });
  });

  test('the same body again has the same key, whatever other headers say', () => {
    const request = (id: string) => ({ headers: { 'x-sig': hex('x'), 'idempotency-key': id }, body: Buffer.from('x') });
    const [a, b] = ['1', '2'].map((id) => messageOf(hook, secret, request(id), nowMs).key);
    expect(a).toBe(b);
  });

  test('a signed time is part of the signature and of the key, and must be within five minutes of the clock', () => {
    const request = (time: string, signedTime = time) => ({
      headers: { 'x-sig': hex(`${signedTime}.x`), 'x-time': time },
      body: Buffer.from('x'),
    });
    const seconds = nowMs / 1000;
    const [a, b] = [0, 1].map((more) => messageOf(timed, secret, request(String(seconds + more)), nowMs).key);
    expect(a).not.toBe(b);
    expect(() => messageOf(timed, secret, request(String(seconds), '1'), nowMs)).toThrow('signature');
    for (const time of [String(seconds - 301), String(seconds + 301), 'NaN', '']) {
      expect(() => messageOf(timed, secret, request(time), nowMs)).toThrow(/too far off/);
    }
  });
});

describe('bearer tokens', () => {
  const hook: Webhook = { name: 'b', room: 'plans', secret: 's', verify: 'bearer' };

  test('the token of the secret is accepted, another one and an empty secret are not', () => {
    const request = (authorization: string) => ({ headers: { authorization }, body: Buffer.from('hi') });
    expect(messageOf(hook, Buffer.from('12345\n'), request('Bearer 12345'), nowMs)).toMatchObject({ body: 'hi' });
    expect(() => messageOf(hook, secret, request('Bearer 1234'), nowMs)).toThrow('wrong');
    expect(() => messageOf(hook, Buffer.from(''), request('Bearer '), nowMs)).toThrow('wrong');
    expect(() => messageOf(hook, secret, { headers: {}, body: Buffer.from('hi') }, nowMs)).toThrow('authorization');
  });
});
