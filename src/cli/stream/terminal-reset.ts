/** Gives a person's terminal back when the program inside goes on or was killed: from the other screen, without mouse, paste and key modes, with a cursor. */
import type { Output } from '../output/output.ts';
import type { Sinks } from './receive.ts';

const otherScreens = ['47', '1047', '1049'];
const cursor = '25';
/** Cursor keys, keypad, mouse, focus, paste, synchronized output, colour scheme. */
const modes = [1, 9, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026, 2027, 2031].map(String);
/** Longer than a sequence that could be split between two chunks. */
const tailLength = 64;

const switchedOff = [
  ...modes.map((mode) => `\x1b[?${mode}l`),
  // Keys as they were, colours, the whole screen for scrolling, the ordinary cursor.
  ...[
    '\x1b[<9u',
    '\x1b[>4m',
    '\x1b>',
    '\x1b(B',
    '\x1b[0m',
    '\x1b[r',
    '\x1b[?7h',
    '\x1b[?25h',
    '\x1b[0 q',
    '\x1b]112\x07',
  ],
].join('');

export class TerminalReset {
  #tail = '';
  /** What the program switched on and not off yet. */
  readonly #on = new Set<string>();

  /** Output of the program, in any pieces. */
  see(chunk: Buffer): void {
    const text = this.#tail + chunk.toString('latin1');
    for (const [, params, word] of text.matchAll(/\x1b\[\?([\d;]*)([hl])/g))
      for (const mode of params!.split(';')) this.#set(mode, word === 'h');
    for (const [, word] of text.matchAll(/\x1b\[([><])\d*u/g)) this.#set('keyboard', word === '>');
    this.#tail = text.slice(-tailLength);
  }

  #set(mode: string, on: boolean): void {
    const isKnown = modes.includes(mode) || otherScreens.includes(mode) || mode === 'keyboard' || mode === cursor;
    if (!isKnown) return;
    if (on === (mode !== cursor)) this.#on.add(mode);
    else this.#on.delete(mode);
  }

  /** Whether the program left something switched on, or its other screen. */
  get isNeeded(): boolean {
    return this.#on.size > 0;
  }

  /** The next line follows what the terminal showed before, or the last line of a program that drew among other lines. */
  text(): string {
    const isOnOtherScreen = otherScreens.some((mode) => this.#on.has(mode));
    return `${switchedOff}${isOnOtherScreen ? '\x1b[?1049l' : '\x1b[999;1H\r\n'}`;
  }

  /** Sinks that show it the output. */
  watched(sinks: Sinks): Sinks {
    const stdout = (chunk: Buffer) => {
      this.see(chunk);
      return sinks.stdout(chunk);
    };
    return { ...sinks, stdout };
  }

  /** At the end of the output; once. */
  finish({ stdout }: Output): void {
    if (this.isNeeded) stdout.write(this.text());
    this.#on.clear();
  }
}
