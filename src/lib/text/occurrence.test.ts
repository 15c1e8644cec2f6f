import { describe, expect, it } from 'vitest';
import { occurs } from './occurrence.ts';

/** A value with bytes that each encoding treats differently. */
const value = 'p4ss/w0rd+&"é\\\n~?>';

function has(secret: string | Buffer, text: string): boolean {
  return occurs(Buffer.from(secret as string), text);
}

describe('a value is found', () => {
  it.each([
    ['as it is', value],
    ['as a part', `https://me:${value}@host`],
    ['followed by a newline', `${value}\n`],
    ['in base64', Buffer.from(value).toString('base64')],
    ['in base64 without padding, for URLs', Buffer.from(value).toString('base64url')],
    ['in base64 of a header', `Basic ${Buffer.from(`me:${value}`).toString('base64')}`],
    ['in base64 with one byte before and others after', Buffer.from(`:${value}: and more`).toString('base64')],
    ['in base64, broken into lines', Buffer.from(value).toString('base64').replace(/.{5}/g, '$&\n')],
    ['in hex', `0x${Buffer.from(value).toString('hex')}`],
    ['in hex in capitals', Buffer.from(value).toString('hex').toUpperCase()],
    ['percent-encoded', `https://me:${encodeURIComponent(value)}@host`],
    ['percent-encoded in lower case', encodeURIComponent(value).toLowerCase()],
    ['with every byte percent-encoded', Buffer.from(value).toString('hex').replace(/../g, '%$&')],
    ['in JSON', JSON.stringify({ password: value })],
  ])('%s', (_, text) => {
    expect(has(value, text)).toBe(true);
    expect(has(`${value}\n`, text)).toBe(true);
    expect(has(`${value}\r\n`, text)).toBe(true);
  });

  it('with its spaces encoded as in forms', () => {
    expect(has('correct horse', 'password=correct+horse')).toBe(true);
  });

  it('as a host name in lower case', () => {
    expect(has('Sesame-0123', '*.sesame-0123.org:443')).toBe(true);
    expect(has('Sesame', 'sesame')).toBe(true);
  });

  it('even if its bytes are not text', () => {
    const bytes = Buffer.from('ff00fe01fd02fc03', 'hex');
    expect(has(bytes, bytes.toString('base64'))).toBe(true);
    expect(has(bytes, bytes.toString('hex'))).toBe(true);
  });

  it('of any length, if it is the whole text', () => {
    expect(has('1234567', '1234567')).toBe(true);
    expect(has('1234567\n', '1234567')).toBe(true);
    expect(has('1234567', '1234567\n')).toBe(true);
    expect(has('\n', '\n')).toBe(true);
  });
});

describe('a value is not found', () => {
  it.each([
    ['a short value as a part of the text', '1234567', '12345678'],
    ['a short value in hex', 'a', '61'],
    ['half of the value', value, value.slice(0, 9)],
    ['the value with one more byte in it', value, value.replace('/', '//')],
    ['any value in an empty text', value, ''],
    ['a newline in an empty text', '\n', ''],
    ['a newline in a text', '\r\n', 'any text'],
  ])('%s', (_, secret, text) => {
    expect(has(secret, text)).toBe(false);
  });
});
