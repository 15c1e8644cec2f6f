import { describe, expect, it } from 'vitest';
import { Screen } from './screen.ts';

function shown(output: string, rows = 4, columns = 10): Screen {
  const screen = new Screen(rows, columns);
  screen.push(Buffer.from(output));
  return screen;
}

describe('a screen', () => {
  it.each([
    ['wraps at the last column', '0123456789ab', ['0123456789', 'ab']],
    ['waits with the new line until there is a character for it', '0123456789\r\nab', ['0123456789', 'ab']],
    ['moves and erases', 'abc\x1b[2D\x1b[K\r\ndef\x1b[1;1Hx', ['x', 'def']],
    ['scrolls', 'a\r\nb\r\nc\r\nd\r\ne', ['b', 'c', 'd', 'e']],
    ['scrolls in a region alone', 'a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[3;1H\n', ['a', 'c', '', 'd']],
    ['inserts and deletes lines', 'a\r\nb\r\nc\x1b[2;1H\x1b[L\x1b[1;1H\x1b[M', ['', 'b', 'c']],
    ['inserts and deletes characters', 'abcdef\x1b[1;2H\x1b[2P\x1b[@', ['a def']],
    ['counts wide characters as two', '\u4e2d\u6587\x1b[1;5Hx', ['\u4e2d\u6587x']],
    ['forgets the other screen', 'main\x1b[?1049h\x1b[Hother\x1b[?1049l!', ['main!']],
    ['shows the other screen', 'main\x1b[?1049h\x1b[Hother', ['other']],
    ['passes over titles and other strings', '\x1b]0;title\x07a\x1bPq#0\x1b\\b\x1b_x\x1b\\c', ['abc']],
    ['passes over what is no sequence', 'a\x1b[\x01b', ['a[b']],
  ])('%s', (_, output, lines) => {
    expect(trimmed(shown(output).lines)).toEqual(lines);
  });

  it('handles sequences and characters that arrive in pieces', () => {
    const screen = new Screen(2, 10);
    for (const byte of Buffer.from('a\x1b[31mé\x1b]0;t\x1b\\b\x1b[2;3Hc')) screen.push(Buffer.of(byte));
    expect(screen.lines).toEqual(['aéb', '  c']);
  });

  it('is painted on another terminal with its text, styles, cursor, modes and scrolled lines', () => {
    const output = `${[1, 2, 3, 4, 5, 6].join('\r\n')}\x1b[?2004h\x1b[?25l\x1b[>1u\x1b[1;38;5;9mred\x1b[0m\x1b[2;2Hz\x1b[c\x1b[6n`;
    const painted = shown(output).painted();
    const again = shown(painted);
    expect(again.lines).toEqual(shown(output).lines);
    expect(again.painted()).toContain('\x1b[?2004h\x1b[?25l\x1b[>1u');
    expect(painted).toMatch(/1\r\n2\r\n/);
    expect(painted).toContain('\x1b[0;1;38;5;9mred');
    expect(painted).toMatch(/\x1b\[2;3H\x1b\[0m$/);
    expect(painted).not.toMatch(/\x1b\[c|\x1b\[6n/);
  });

  it('is painted with main and alternate screen, so that leaving the alternate one shows the main one', () => {
    const again = shown(shown('main\x1b[?1049h\x1b[Hother').painted());
    expect(trimmed(again.lines)).toEqual(['other']);
    again.push(Buffer.from('\x1b[?1049l'));
    expect(trimmed(again.lines)).toEqual(['main']);
  });
});

function trimmed(lines: readonly string[]): string[] {
  const last = lines.findLastIndex((line) => line !== '');
  return lines.slice(0, last + 1);
}
