import { emitKeypressEvents } from 'node:readline';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { InputLine, type KeyAction, type TypedKey } from './input-line.ts';
import { viewOf } from './input-view.ts';

/** The keys that a terminal sends, as bytes. */
function typed(input: InputLine, ...pieces: string[]): KeyAction[] {
  const stream = new PassThrough();
  const wishes: KeyAction[] = [];
  emitKeypressEvents(stream);
  stream.on('keypress', (_text: string, key: TypedKey) => wishes.push(input.press(key)));
  for (const piece of pieces) stream.emit('data', Buffer.from(piece));
  return wishes.filter((wish) => wish !== null);
}

function after(...pieces: string[]): string {
  const input = new InputLine(['first', 'second']);
  typed(input, ...pieces);
  return `${[...input.text].slice(0, input.cursor).join('')}|${[...input.text].slice(input.cursor).join('')}`;
}

describe('keys of a shell', () => {
  test.each([
    ['abc', 'abc|'],
    ['aéüb\u001b[D\u001b[Dx', 'aéx|üb'],
    ['ab\u0001x', 'x|ab'],
    ['ab\u0001\u0005x', 'abx|'],
    ['one two\u0017', 'one |'],
    ['one two\u0015', '|'],
    ['one two\u0001\u000b', '|'],
    ['one two\u001bbx', 'one x|two'],
    ['abc\u007f\u007f', 'a|'],
    ['abc\u0001\u0004', '|bc'],
    ['😀😀\u007f', '😀|'],
    ['a\u001bOP', 'a|'],
  ])('%j edits the line as in a shell', (keys, shown) => {
    expect(after(keys)).toBe(shown);
  });
});

test('up and down go through the history and come back to the unsent text', () => {
  expect(after('new\u001b[A')).toBe('second|');
  expect(after('new\u001b[A\u001b[A\u001b[A')).toBe('first|');
  expect(after('new\u001b[A\u001b[A\u001b[B\u001b[B')).toBe('new|');
});

test('Enter submits; Enter after a backslash, Alt-Enter and a paste insert new lines', () => {
  const input = new InputLine();
  expect(typed(input, 'a\\\rb\u001b\rc')).toEqual([]);
  expect(typed(input, '\u001b[200~d\re\n\u001b[201~')).toEqual([]);
  expect(input.text).toBe('a\nb\ncd\ne\n');
  expect(typed(input, '\r')).toEqual(['submit']);
  expect(input.accept()).toBe('a\nb\ncd\ne\n');
  expect(input.text).toBe('');
});

test('up and down move within a text of several lines before they use the history', () => {
  expect(after('long line\\\rab\u001b[A')).toBe('lo|ng line\nab');
  expect(after('ab\\\rlong line\u001b[A\u001b[B')).toBe('ab\nlo|ng line');
});

test('Ctrl-C, Ctrl-D and Ctrl-L return actions; Ctrl-D in a text deletes a character', () => {
  expect(typed(new InputLine(), '\u0003\u0004\u000c')).toEqual(['interrupt', 'leave', 'redraw']);
  expect(typed(new InputLine(), 'a\u0001\u0004')).toEqual([]);
});

describe('the view of the input', () => {
  test('wraps, indents and places the cursor', () => {
    expect(viewOf('abcdefgh', 8, '› ', 10)).toEqual({ rows: ['› abcdefg', '  h'], row: 1, column: 3 });
    expect(viewOf('a\nb', 1, '› ', 10)).toEqual({ rows: ['› a', '  b'], row: 0, column: 3 });
  });

  test('shows the rows around the cursor of a long text', () => {
    const text = Array.from({ length: 20 }, (_, n) => String(n)).join('\n');
    const { rows, row } = viewOf(text, text.length, '› ', 80);
    expect(rows).toHaveLength(8);
    expect(rows[row]).toBe('  19');
    expect(viewOf(text, 0, '› ', 80).rows[0]).toBe('› 0');
  });
});
