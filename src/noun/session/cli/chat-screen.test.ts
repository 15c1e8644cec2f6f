import { expect, test } from 'vitest';
import { ChatScreen, wrap } from './chat-screen.ts';

/** A terminal of a few rows with the sequences that `ChatScreen` uses. */
class Terminal {
  readonly isTTY = true;
  columns = 20;
  #rows: string[] = [''];
  #row = 0;
  #column = 0;

  write(data: string | Uint8Array): void {
    for (const [piece, count, code] of String(data).matchAll(/\u001b\[(\d*)([A-Za-z])|[\s\S]/g)) {
      if (code !== undefined) this.#control(code, Number(count || 1));
      else if (piece === '\n') this.#goTo(this.#row + 1, 0);
      else if (piece === '\r') this.#column = 0;
      else this.#put(piece);
    }
  }

  get text(): string {
    return this.#rows.join('\n');
  }

  get cursor(): readonly number[] {
    return [this.#row, this.#column];
  }

  #control(code: string, count: number): void {
    if (code === 'A') this.#row -= count;
    if (code === 'C') this.#column += count;
    if (code !== 'J') return;
    this.#rows = this.#rows.slice(0, this.#row + 1);
    this.#rows[this.#row] = this.#rows[this.#row]!.slice(0, this.#column);
  }

  #goTo(row: number, column: number): void {
    while (this.#rows.length <= row) this.#rows.push('');
    [this.#row, this.#column] = [row, column];
  }

  #put(character: string): void {
    const row = this.#rows[this.#row]!.padEnd(this.#column);
    this.#rows[this.#row] = row.slice(0, this.#column) + character + row.slice(this.#column + 1);
    this.#column += 1;
  }
}

test('text scrolls above the input, also while its line is unfinished', () => {
  const terminal = new Terminal();
  const screen = new ChatScreen(terminal);
  screen.show({ rows: ['› ab', '  cd'], row: 0, column: 3 });
  screen.write('Hello');
  screen.draw();
  expect(terminal.text).toBe('Hello\n› ab\n  cd');
  expect(terminal.cursor).toEqual([1, 3]);
  screen.write(' you\nand');
  screen.draw();
  screen.write(' more\n');
  screen.draw();
  expect(terminal.text).toBe('Hello you\nand more\n› ab\n  cd');
  screen.show({ rows: ['› '], row: 0, column: 2 });
  screen.draw();
  expect(terminal.text).toBe('Hello you\nand more\n› ');
  screen.close();
  expect(terminal.text).toBe('Hello you\nand more\n');
});

test('lines are wrapped at words, and a long word at the end of the row', () => {
  expect(wrap('one two three', 8)).toEqual(['one two', 'three']);
  expect(wrap('abcdefghijkl', 5)).toEqual(['abcde', 'fghij', 'kl']);
  expect(wrap('', 5)).toEqual(['']);
});

test('a colour continues in the next row', () => {
  expect(wrap('\u001b[2mone two\u001b[0m', 4)).toEqual(['\u001b[2mone', '\u001b[2mtwo\u001b[0m']);
});

test('a line that grows in pieces is wrapped as one', () => {
  const terminal = new Terminal();
  const screen = new ChatScreen(terminal);
  screen.show({ rows: ['› '], row: 0, column: 2 });
  for (const word of 'the quick brown fox jumps over'.match(/\s*\S+/g)!) {
    screen.write(word);
    screen.draw();
  }
  expect(terminal.text).toBe('the quick brown fox\njumps over\n› ');
});
