import { expect, test } from 'vitest';
import { isFault } from '../../model/fault.ts';
import { isBranchName, parseBundleHeader } from './bundle-header.ts';

const oid = 'a1'.repeat(20);

function parse(text: string, oidLength: 40 | 64 = 40) {
  return parseBundleHeader(Buffer.from(text), oidLength);
}

test('refs, prerequisites and the length of the header', () => {
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
])('%j is refused', (text) => {
  expect(() => parse(text)).toThrow(expect.toSatisfy((error) => isFault(error, 'invalid')));
});

test('names of branches', () => {
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
