import { describe, expect, test } from 'vitest';
import { gateKinds } from '../../model/change.ts';
import type { Fault } from '../../model/fault.ts';
import { askedPaths } from '../paths.ts';
import { applyRequest, parseKinds } from './request.ts';

function invalid(work: () => unknown): void {
  expect(work).toThrowError(expect.objectContaining({ code: 'invalid' }) as Fault);
}

test('only what was asked for is sent', () => {
  expect(applyRequest(['a'], [], {})).toEqual({ names: ['a'] });
  expect(applyRequest(['a', 'b'], ['x'], { theirs: true, dryRun: true, allow: ['ci,env', 'ci'] })).toEqual({
    ...{ names: ['a', 'b'], paths: ['x'], resolution: 'theirs', dryRun: true, allow: ['env', 'ci'] },
  });
});

test('all allows every kind', () => {
  expect(parseKinds('--allow', ['all'])).toEqual(gateKinds);
  expect(parseKinds('--allow', ['env', 'all'])).toEqual(gateKinds);
});

describe('refused', () => {
  test.each(['', 'ci,', 'CI', 'everything', '__proto__'])('--allow %j', (text) =>
    invalid(() => parseKinds('--allow', [text])),
  );
  test('two ways at once', () => {
    invalid(() => applyRequest(['a'], [], { ours: true, leave: true }));
  });
  test('an empty path, which would be an unset variable', () => {
    invalid(() => askedPaths(['a', '']));
  });
});

test('no paths are all', () => {
  expect(askedPaths([])).toEqual({});
  expect(askedPaths(['a'])).toEqual({ paths: ['a'] });
});

test('--always goes with --allow, and --ask with neither', () => {
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
