import { expect, test } from 'vitest';
import { address, bodyText, headerText, mailDate, quotedPrintable } from './mail.ts';

test('a text in a header cannot start another header, and a long one is encoded on several lines', () => {
  expect(headerText('plain [text]: x')).toBe('plain [text]: x');
  expect(headerText('a\r\nBcc: b\n')).toBe('a Bcc: b');
  for (const line of headerText('日本語'.repeat(40)).split('\n')) {
    expect(line).toMatch(/^ ?=\?UTF-8\?B\?[\w+/=]+\?=$/);
    expect(line.length).toBeLessThanOrEqual(76);
  }
  expect(headerText('=?UTF-8?B?eA==?=')).not.toContain('?B?eA==?=');
});

test('a name cannot add a second address', () => {
  expect(address({ name: 'Ann B.', email: 'a@b' })).toBe('Ann B. <a@b>');
  expect(address({ name: 'A, "B" <c@d>', email: 'a@b>\nBcc: <x' })).toBe('"A, B cd" <a@bBcc:x>');
});

test('a date is written as in the header of a mail', () => {
  expect(mailDate(new Date(0))).toBe('Thu, 01 Jan 1970 00:00:00 +0000');
});

test('no line of a message is parsed as a header, a separator or a diff', () => {
  const text = 'From: x\n>From y\n---\n--- a/x\ndiff -u\nIndex: x\nSubject: y\nfromage\n\n';
  expect(bodyText(text)).toBe(' From: x\n >From y\n ---\n --- a/x\n diff -u\n Index: x\n Subject: y\nfromage');
});

test('quoted printable keeps spaces and CR at the end of a line', () => {
  expect(quotedPrintable(Buffer.from('a=b\r\nc \n\td\t\n')).toString()).toBe('a=3Db=0D\nc=20\n\td=09\n');
  const long = quotedPrintable(Buffer.from(`${'ü'.repeat(50)}\n`)).toString();
  expect(long.split('\n').every((line) => line.length <= 76)).toBe(true);
  expect(long.replaceAll('=\n', '')).toBe(`${'=C3=BC'.repeat(50)}\n`);
});
