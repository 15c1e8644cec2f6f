import { describe, expect, test } from 'vitest';
import { lastName, meansContents, meansFolder, operand, parseCopy, parseCopyPath } from './copy.ts';

describe('a path of cp', () => {
  test.each([
    ['a', null, 'a'],
    ['./a:b', null, './a:b'],
    ['/x/a:b', null, '/x/a:b'],
    ['x/a:b', null, 'x/a:b'],
    ['.hidden:x', null, '.hidden:x'],
    ['box:/tmp/x:y', 'box', '/tmp/x:y'],
    ['box:rel', 'box', 'rel'],
    ['box:', 'box', '.'],
    ['b.o_x-1:/', 'b.o_x-1', '/'],
  ])('%j is parsed into sandbox and path', (text, sandbox, path) => {
    expect(parseCopyPath(text)).toEqual({ sandbox, path });
  });

  test.each(['', 'Box:/x', 'a b:/x', '-x:/y'])('%j is refused', (text) => {
    expect(() => parseCopyPath(text)).toThrowError(expect.objectContaining({ code: 'invalid' }) as Error);
  });
});

test('cp refuses two paths that are both in a sandbox or both on the host', () => {
  expect(parseCopy('a', 'b:c')).toEqual({ way: 'in', sandbox: 'b', from: 'a', to: 'c' });
  expect(parseCopy('b:c', 'a')).toEqual({ way: 'out', sandbox: 'b', from: 'c', to: 'a' });
  expect(() => parseCopy('a', 'b')).toThrow('one side must be in a sandbox');
  expect(() => parseCopy('a:x', 'b:y')).toThrow('one side must be in a sandbox');
});

test('the end of a path says whether a folder, its content or a name is meant', () => {
  expect(['d/.', '.', 'd', 'd/', 'd.', 'd/..'].map(meansContents)).toEqual([true, true, false, false, false, false]);
  expect(['d/.', '.', 'd', 'd/', 'd.', 'd/..'].map(meansFolder)).toEqual([true, true, false, true, false, true]);
  expect(['/a/b', 'a/', '/', '.', 'a/..'].map(lastName)).toEqual(['b', 'a', null, null, null]);
  expect(['-rf', '/x', 'a'].map(operand)).toEqual(['./-rf', '/x', 'a']);
});
