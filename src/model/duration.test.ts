import { expect, it } from 'vitest';
import { parseDuration } from './duration.ts';

it.each([
  ['1s', 1000],
  ['90m', 5_400_000],
  ['12h', 43_200_000],
  ['7d', 604_800_000],
  ['2w', 1_209_600_000],
])('parseDuration accepts %s', (text, ms) => expect(parseDuration(text, '--stale')).toBe(ms));

it.each(['', '7', 'd', '0d', '07d', '-1d', '+1d', '1.5d', '7 d', ' 7d', '7d\n', '7D', '7days', '1d12h', '٧d', '1e3s'])(
  'parseDuration refuses %j',
  (text) => expect(() => parseDuration(text, '--stale')).toThrow(/--stale: .* is not a time span/),
);

it('parseDuration refuses a time span of more than a hundred years', () => {
  expect(parseDuration('36500d', 'x')).toBe(36_500 * 86_400_000);
  for (const text of ['36501d', '999999999w']) expect(() => parseDuration(text, 'x')).toThrow(/not a time span/);
});
