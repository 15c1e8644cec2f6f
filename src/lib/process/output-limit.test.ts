import { expect, it } from 'vitest';
import { OutputLimit } from './output-limit.ts';

it('the output limit shows the first megabyte in full, then a piece each second', () => {
  let nowMs = 0;
  const limit = new OutputLimit(() => nowMs);
  const chunk = 'x'.repeat(64 * 1024);
  for (let n = 0; n < 16; n += 1) expect(limit.take(chunk)).toBe(chunk);
  expect(limit.take(`${chunk}end`)).toMatch(/^x{997}end$/);
  expect(limit.take(chunk)).toBeNull();
  nowMs = 1000;
  expect(limit.take('next')).toBe('next');
  expect(limit.take('more')).toBeNull();
});
