/**
 * The modes that a program set in its terminal: keys, paste, mouse, cursor. A terminal that attaches later needs them
 * too.
 */

/** Modes of cursor keys, wrapping, cursor, mouse, focus, paste and colour scheme. */
const kept = [1, 7, 9, 25, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 2004, 2027, 2031];
const onAtFirst = [7, 25];

export class Modes {
  readonly #modes = new Map<number, boolean>();
  /** The stack of the keyboard protocol, one entry for each push. */
  readonly #keyboard: string[] = [];
  #otherKeys = '';
  #title = '';

  /** `ESC [ ? … h` or `l`. */
  set(params: string, on: boolean): void {
    for (const word of params.split(';')) if (kept.includes(Number(word))) this.#modes.set(Number(word), on);
  }

  pushKeyboard(params: string): void {
    this.#keyboard.push(params || '0');
  }

  popKeyboard(params: string): void {
    this.#keyboard.splice(-(Number(params) || 1));
  }

  /** How modified keys are encoded: `ESC [ > 4 ; n m`. */
  setOtherKeys(params: string): void {
    this.#otherKeys = params;
  }

  setTitle(title: string): void {
    this.#title = title;
  }

  /** The sequences that set all modes again. */
  text(): string {
    const set = [...this.#modes].filter(([mode, on]) => on !== onAtFirst.includes(mode));
    return [
      ...set.map(([mode, on]) => `\x1b[?${mode}${on ? 'h' : 'l'}`),
      ...this.#keyboard.map((params) => `\x1b[>${params}u`),
      this.#otherKeys === '' ? '' : `\x1b[>${this.#otherKeys}m`,
      this.#title === '' ? '' : `\x1b]0;${this.#title}\x07`,
    ].join('');
  }
}
