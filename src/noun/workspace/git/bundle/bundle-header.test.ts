import { expect, test } from 'vitest';
import { isFault } from '../../../../model/fault.ts';
import { isBranchName, parseBundleHeader } from './bundle-header.ts';

const oid = 'a1'.repeat(20);

function parse(text: string, oidLength: 40 | 64 = 40) {
  return parseBundleHeader(Buffer.from(text), oidLength);
}

test('the parser returns the refs and the length of a header, and accepts prerequisites', () => {
  const text = `# v2 git bundle\n-${oid} subject\n-${oid}\n${oid} refs/heads/a/b\n${oid} HEAD\n\nPACK`;
  const refs = [
    { branch: 'a/b', oid },
    { branch: null, oid },
  ];
  expect(parse(text)).toEqual({ refs, lengthBytes: text.length - 4 });
  const long = `# v3 git bundle\n@object-format=sha256\n${oid}${oid.slice(0, 24)} refs/heads/x\n\n`;
  expect(parse(long, 64).refs).toEqual([{ branch: 'x', oid: oid + oid.slice(0, 24) }]);
});

test.each([
  `# v4 git bundle\n${oid} HEAD\n\n`,
  `# v2 git bundle\r\n${oid} HEAD\n\n`,
  `# v2 git bundle\n@object-format=sha1\n${oid} HEAD\n\n`,
  `# v2 git bundle\n${oid.slice(1)} HEAD\n\n`,
  `# v2 git bundle\n${oid}\tHEAD\n\n`,
  `# v2 git bundle\n${oid.toUpperCase()} HEAD\n\n`,
  `# v2 git bundle\n${oid} refs/heads/\n\n`,
  `# v2 git bundle\n${oid} HEAD\n`,
])('the header %j is refused', (text) => {
  expect(() => parse(text)).toThrow(expect.toSatisfy((error) => isFault(error, 'invalid')));
});

test('isBranchName accepts usual names and refuses those that git refuses or that could mislead', () => {
  for (const name of ['main', 'a/b', 'v1.2', 'grüße', 'a-b', '日本', 'x@y'])
    expect(isBranchName(name), name).toBe(true);
  const bad = [
    '',
    '.',
    '..',
    '@',
    '-x',
    'a/-x',
    'a//b',
    '/a',
    'a/',
    'a..b',
    '.a',
    'a/.b',
    'a.',
    'a.lock',
    'a.lock/b',
    'a b',
  ];
  for (const name of [
    ...bad,
    'a~',
    'a^',
    'a:',
    'a?',
    'a*',
    'a[',
    'a\\',
    'a@{b',
    'a\tb',
    'a\u007f',
    '\ufffd',
    'x'.repeat(201),
  ])
    expect(isBranchName(name), name).toBe(false);
});

test.each([
  'a\u0085',
  'a\u009b31m',
  'a\u202eb',
  'a\u2066b',
  'a\u200bb',
  'a\u00a0b',
  'a\u{e0061}',
  'a\ufe0f',
  'a\u{e0100}',
  'a\u3164',
  'a\u00ad',
  'a\u2028',
])('a branch called %j never becomes a ref, and the refusal escapes it', (name) => {
  expect(isBranchName(name)).toBe(false);
  const fault = (() => {
    try {
      return parse(`# v2 git bundle\n${oid} refs/heads/${name}\n\n`);
    } catch (error) {
      return error as Error;
    }
  })() as Error;
  expect(fault.message).toMatch(/"a.* is refused as the name of a branch/);
  expect(fault.message).not.toContain(name.slice(1, 2));
});
