import { describe, expect, test } from 'vitest';
import { gateKinds } from '../../model/change.ts';
import type { Fault } from '../../model/fault.ts';
import { askedPaths } from '../paths.ts';
import { applyRequest, parseAllow } from './request.ts';

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
  expect(parseAllow(['all'])).toEqual(gateKinds);
  expect(parseAllow(['env', 'all'])).toEqual(gateKinds);
});

describe('refused', () => {
  test.each(['', 'ci,', 'CI', 'everything', '__proto__'])('--allow %j', (text) => invalid(() => parseAllow([text])));
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
