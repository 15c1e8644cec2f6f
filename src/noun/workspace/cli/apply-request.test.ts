import { describe, expect, test } from 'vitest';
import { checkPaths, inProject } from '../../../client/paths.ts';
import type { Fault } from '../../../model/fault.ts';
import { gateKinds } from '../model/change.ts';
import { applyRequest, parseKinds } from './apply-request.ts';

function invalid(work: () => unknown): void {
  expect(work).toThrowError(expect.objectContaining({ code: 'invalid' }) as Fault);
}

test('the request has only the fields of the given options', () => {
  expect(applyRequest(['a'], [], {})).toEqual({ names: ['a'] });
  expect(applyRequest(['a', 'b'], ['x'], { theirs: true, dryRun: true, allow: ['ci,env', 'ci'] })).toEqual({
    ...{ names: ['a', 'b'], paths: ['x'], resolution: 'theirs', dryRun: true, allow: ['env', 'ci'] },
  });
});

test('--allow all means every kind of gate', () => {
  expect(parseKinds('--allow', ['all'])).toEqual(gateKinds);
  expect(parseKinds('--allow', ['env', 'all'])).toEqual(gateKinds);
});

describe('the options of apply refuse', () => {
  test.each(['', 'ci,', 'CI', 'everything', '__proto__'])('--allow %j', (text) =>
    invalid(() => parseKinds('--allow', [text])),
  );
  test('two resolutions at once', () => {
    invalid(() => applyRequest(['a'], [], { ours: true, leave: true }));
  });
  test('an empty path, which may come from an unset variable', () => {
    invalid(() => checkPaths(['a', '']));
  });
});

test('checkPaths returns valid paths unchanged', () => {
  expect(checkPaths(['a'])).toEqual(['a']);
});

test('--always is allowed only with --allow, and --ask with neither', () => {
  expect(applyRequest(['a'], [], { allow: ['executable'], always: true })).toEqual({
    names: ['a'],
    allow: ['executable'],
    always: true,
  });
  expect(applyRequest(['a'], [], { ask: ['all'] })).toEqual({ names: ['a'], ask: [...gateKinds] });
  for (const options of [
    { always: true },
    { ask: ['ci'], allow: ['ci'] },
    { ask: ['ci'], always: true },
    { ask: ['x'] },
  ])
    expect(() => applyRequest(['a'], [], options)).toThrow(expect.objectContaining({ code: 'invalid' }));
});

test.each([
  ['a.ts', '/p/src', 'src/a.ts'],
  ['../b.ts', '/p/src', 'b.ts'],
  ['.', '/p/src', 'src'],
  ['.', '/p', '.'],
  ['..', '/p/src', '.'],
  ['/p/src/a.ts', '/p/lib', 'src/a.ts'],
  ['/workspace/src/a.ts', '/p/lib', '/workspace/src/a.ts'],
  ['src/a.ts', '/elsewhere', 'src/a.ts'],
])('%s typed in folder %s means %s of the project', (path, folder, expected) => {
  expect(inProject(path, '/p', folder)).toBe(expected);
});

test('a path out of the project is refused', () => {
  for (const path of ['../..', '../../q', '/etc/passwd']) invalid(() => inProject(path, '/p', '/p/src'));
});
