/**
 * Restores the user's terminal when the client detaches or the program was killed: main screen, no mouse, paste and key
 * modes, visible cursor.
 */
import type { Output } from '../output/output.ts';
import type { Sinks } from './stream.ts';

const otherScreens = ['47', '1047', '1049'];
const cursor = '25';
/** Modes of cursor keys, keypad, mouse, focus, paste, synchronized output and colour scheme. */
const modes = [1, 9, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026, 2027, 2031].map(String);
/** So many characters are kept for the next chunk, because a sequence may be split between two chunks. */
const tailLength = 64;

const switchedOff = [
  ...modes.map((mode) => `\x1b[?${mode}l`),
  // Keyboard, keypad, character set, colours, scrolling region, wrapping, cursor.
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
  /** Modes that the program has set and not reset yet. */
  readonly #on = new Set<string>();

  /** Reads output of the program, in chunks of any size. */
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

  /** Whether the program left a mode set, or the alternate screen. */
  get isNeeded(): boolean {
    return this.#on.size > 0;
  }

  /**
   * The sequences that reset everything. The next output is below the main screen's text, or below what the program
   * drew.
   */
  text(): string {
    const isOnOtherScreen = otherScreens.some((mode) => this.#on.has(mode));
    return `${switchedOff}${isOnOtherScreen ? '\x1b[?1049l' : '\x1b[999;1H\r\n'}`;
  }

  /** Sinks that pass the output on and read it here. */
  watched(sinks: Sinks): Sinks {
    const stdout = (chunk: Buffer) => {
      this.see(chunk);
      return sinks.stdout(chunk);
    };
    return { ...sinks, stdout };
  }

  /** Resets the terminal at the end of the output, once. */
  finish({ stdout }: Output): void {
    if (this.isNeeded) stdout.write(this.text());
    this.#on.clear();
  }
}
