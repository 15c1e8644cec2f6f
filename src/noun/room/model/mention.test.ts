import { describe, expect, it, test } from 'vitest';
import { mentionsIn } from './mention.ts';

describe('mentions', () => {
  test.each([
    ['Ready for review, @reviewer.', ['reviewer']],
    ['@a (@b) [@c] {@d} "@e" \'@f', ['a', 'b', 'c', 'd', 'e', 'f']],
    ['@builder-1: see @sms:+4930123 and @x-', ['builder-1', 'sms:+4930123', 'x']],
    ['mail me at me@example.org', []],
    ['@a and @a again', ['a']],
    ['@all', ['all']],
    [`@${'x'.repeat(64)} @${'y'.repeat(65)}`, ['x'.repeat(64)]],
    ['@..', []],
  ])('are found in %j', (body, names) => {
    expect(mentionsIn(body)).toEqual(names);
  });

  it('are not taken from code', () => {
    expect(mentionsIn('run `npm i @types/node` for @ann')).toEqual(['ann']);
    expect(mentionsIn('``a ` @b`` @c')).toEqual(['c']);
    expect(mentionsIn('`open @d')).toEqual(['d']);
    expect(mentionsIn('```\n@a\n```\n@b\n~~~\n@c\n```\n@d\n~~~\n@e')).toEqual(['b', 'e']);
  });

  it('are found in time proportional to the text', () => {
    expect(mentionsIn(`x ${'`'.repeat(200_000)} @a`)).toEqual(['a']);
    expect(mentionsIn(`${'` '.repeat(100_000)} @b`)).toEqual(['b']);
    expect(mentionsIn('@'.repeat(200_000))).toEqual([]);
  });
});
