/**
 * Authenticates a request to a webhook and turns it into a message. Everything that becomes part of the message, its
 * key included, is covered by the authentication: a request that is sent again is the same message, not another one.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { Fault } from '../../model/fault.ts';
import type { Webhook } from './model/webhook.ts';
import type { NewMessage } from './room.ts';

export interface WebhookRequest {
  /** By header name in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** How far the clock of a sender may be off. */
const clockSeconds = 300;

/** Throws `unauthenticated` if the signature or token is missing or wrong, `invalid` if the request is no message. */
export function messageOf(hook: Webhook, secret: Buffer, request: WebhookRequest, nowMs: number): NewMessage {
  switch (hook.verify) {
    case 'twilio':
      return smsOf(hook, secret, request);
    case 'hmac':
      return signedOf(hook, secret, request, nowMs);
    case 'bearer':
      return trustedOf(hook, secret, request);
  }
}

function smsOf(
  { name, url }: Extract<Webhook, { verify: 'twilio' }>,
  secret: Buffer,
  { headers, body }: WebhookRequest,
): NewMessage {
  const fields = new URLSearchParams(utf8(body));
  requireSame(header(headers, 'x-twilio-signature'), twilioSignature(url, fields, secret));
  const [from, id] = [fields.get('From') ?? '', fields.get('MessageSid') ?? ''];
  const number = /^(?:[a-z]+:)?(\+?[A-Za-z0-9]{2,40})$/.exec(from)?.[1];
  if (number === undefined || id === '') throw new Fault('invalid', 'From or MessageSid is missing');
  const media = [...fields].filter(([key]) => /^MediaUrl\d+$/.test(key)).map(([, value]) => value);
  const text = [fields.get('Body') ?? '', ...media].filter((line) => line !== '').join('\n');
  return {
    ...{ from: { kind: 'service', name: `sms:${number}` }, via: 'webhook', key: `hook:${name}:${id}` },
    body: text === '' ? '(empty)' : text,
  };
}

/** Signs the URL, followed by all fields in the order of their names, each with its value. */
export function twilioSignature(url: string, fields: URLSearchParams, secret: Buffer): string {
  const names = [...new Set(fields.keys())].sort();
  const text = names
    .map((name) =>
      [...new Set(fields.getAll(name))]
        .sort()
        .map((value) => name + value)
        .join(''),
    )
    .join('');
  return createHmac('sha1', secret)
    .update(url + text)
    .digest('base64');
}

function signedOf(
  hook: Extract<Webhook, { verify: 'hmac' }>,
  secret: Buffer,
  { headers, body }: WebhookRequest,
  nowMs: number,
): NewMessage {
  const timestamp = hook.timestamp === null ? '' : header(headers, hook.timestamp);
  const given = header(headers, hook.header)
    .replace(/^sha256=/, '')
    .toLowerCase();
  requireSame(given, hmacOf(secret, hook.timestamp === null ? null : timestamp, body));
  // Written so that NaN is refused, too.
  if (hook.timestamp !== null && !(Math.abs(nowMs / 1000 - Number(timestamp)) <= clockSeconds)) {
    throw new Fault('unauthenticated', `the time in ${hook.timestamp} is too far off`);
  }
  const digest = createHash('sha256').update(`${timestamp}.`).update(body).digest('hex');
  return { ...plainOf(hook, headers, body), key: `hook:${hook.name}:${digest}` };
}

/** Signs `TIMESTAMP.BODY`, or the body alone. */
export function hmacOf(key: Buffer, timestamp: string | null, body: Buffer | string): string {
  const hmac = createHmac('sha256', key);
  if (timestamp !== null) hmac.update(`${timestamp}.`);
  return hmac.update(body).digest('hex');
}

/** The sender may set an idempotency key, so that it can repeat a request without a second message. */
function trustedOf(hook: Webhook, secret: Buffer, { headers, body }: WebhookRequest): NewMessage {
  const [, token = ''] = /^Bearer +(\S+)$/i.exec(header(headers, 'authorization')) ?? [];
  requireSame(token, secret.toString('utf8').trim());
  const delivery = headers['idempotency-key'];
  const key = typeof delivery === 'string' ? { key: `hook:${hook.name}:${delivery.slice(0, 200)}` } : {};
  return { ...plainOf(hook, headers, body), ...key };
}

function plainOf({ name }: Webhook, headers: WebhookRequest['headers'], body: Buffer): NewMessage {
  const isJson = /^application\/(?:[\w.+-]*\+)?json\b/i.test(String(headers['content-type'] ?? ''));
  const text = isJson ? textOf(utf8(body)) : utf8(body);
  return { from: { kind: 'service', name: `webhook:${name}` }, via: 'webhook', body: text };
}

/** The text of a document that has one, otherwise the document as a block of code. */
function textOf(json: string): string {
  let document: unknown;
  try {
    document = JSON.parse(json);
  } catch {
    throw new Fault('invalid', 'the body is not JSON');
  }
  const { text, body, message } = (document ?? {}) as Record<string, unknown>;
  // `message.body` is in the documents that a watcher of a room sends.
  const inner = (message as { readonly body?: unknown } | null | undefined)?.body;
  const found = [document, text, body, message, inner].find((one) => typeof one === 'string');
  return (found as string | undefined) ?? fenced(JSON.stringify(document, null, 2));
}

/** Uses a fence that is longer than any fence within the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}json\n${text}\n${fence}`;
}

function utf8(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new Fault('invalid', 'the body is not UTF-8');
  }
}

function header(headers: WebhookRequest['headers'], name: string): string {
  const value = headers[name];
  if (typeof value === 'string') return value;
  throw new Fault('unauthenticated', `the header ${name} is missing`);
}

/** Compares in constant time. */
function requireSame(given: string, expected: string): void {
  const [a, b] = [given, expected].map((text) => createHash('sha256').update(text).digest());
  if (expected === '' || !timingSafeEqual(a!, b!))
    throw new Fault('unauthenticated', 'the signature or token is wrong');
}
