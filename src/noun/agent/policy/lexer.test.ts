import { describe, expect, test } from 'vitest';
import { splitWords } from './lexer.ts';

describe('words', () => {
  test.each<[string, string[]]>([
    ['', []],
    ['  a \t b ', ['a', 'b']],
    [`a 'b c' "d e"`, ['a', 'b c', 'd e']],
    [`a''b"c"\\d`, ['abcd']],
    [`'' ""`, ['', '']],
    [`'$x \`y\` !z * ~'`, ['$x `y` !z * ~']],
    [`"\\$x \\" \\\\ \\\` \\a 'q'"`, ["$x \" \\ ` \\a 'q'"]],
    [`\\ \\'\\"\\$\\*`, [' \'"$*']],
    ['a --b=c d:e,f@g%h+i', ['a', '--b=c', 'd:e,f@g%h+i']],
  ])('%s', (text, argv) => {
    expect(splitWords(text)).toEqual({ argv });
  });

  test.each(
    [
      ...['a;b', 'a & b', 'a|b', 'a && b', 'a\nb', 'a\n', 'a\rb', '(a)', '{ a', 'a{b,c}', 'a >b', 'a <b', 'a 2>&1'],
      ...['$a', '"$a"', '$(a)', '"$(a)"', '`a`', '"`a`"', "$'a'", '$"a"', '$' + '{a}', 'a #b', '#a'],
      ...['a*', 'a?', '[a]', '~', '~/a', 'a=~', '!a', '"!a"', '"\\!a"', '^a^b', 'A=b c', 'a=b', 'A+=b c', 'a =ls'],
      ...[
        "'a",
        '"a',
        'a\\',
        'a\\\nb',
        '"a\\\nb"',
        "'a\nb'",
        '"a\nb"',
        'a\0b',
        "'\0'",
        'a\u00a0b',
        "'é'",
        '"é"',
        'é',
        '\u2028',
      ],
      ...['a\u0007', "'\u001b[2J'", '\\é', '\ud83d\ude00', 'a'.repeat(70_000)],
    ].map((text) => [text]),
  )('are unclear in %j', (text) => {
    expect(splitWords(text)).toHaveProperty('unclear');
  });
});
