/**
 * The text that a person types, one or several lines, edited with the keys of a shell. It knows no terminal: keys have
 * the names of Node's `readline`.
 */
export interface TypedKey {
  /** The typed key as text. */
  readonly sequence?: string | undefined;
  readonly name?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
}

/**
 * What the program should do after a key: send the text, cancel, leave, or draw again. Null: only the text may have
 * changed.
 */
export type KeyAction = 'submit' | 'interrupt' | 'leave' | 'redraw' | null;

export class InputLine {
  #characters: string[] = [];
  #cursor = 0;
  readonly #history: string[];
  /** The index of the history entry that is shown; the length of the history: the new text. */
  #at: number;
  #unsent = '';
  #pasting = false;

  /** `history`: the oldest first. */
  constructor(history: readonly string[] = []) {
    this.#history = [...history];
    this.#at = this.#history.length;
  }

  get text(): string {
    return this.#characters.join('');
  }

  /** The position of the cursor, in characters of the text. */
  get cursor(): number {
    return this.#cursor;
  }

  /** Empties the line, keeps its text in the history, and returns it. */
  accept(): string {
    const { text } = this;
    if (text.trim() !== '' && this.#history.at(-1) !== text) this.#history.push(text);
    return this.take();
  }

  /** Empties the line and returns its text. */
  take(): string {
    const { text } = this;
    this.clear();
    return text;
  }

  clear(): void {
    this.#set('');
    this.#at = this.#history.length;
  }

  press(key: TypedKey): KeyAction {
    const { name = '', ctrl = false, meta = false } = key;
    if (name === 'paste-start' || name === 'paste-end') this.#pasting = name === 'paste-start';
    else if (this.#pasting) this.#insert(pasted(key));
    else if (name === 'return' || name === 'enter') return this.#enter(meta || name === 'enter');
    else if (ctrl) return this.#control(name);
    else if (meta) this.#word(name);
    else if (!this.#move(name)) this.#insert(typed(key));
    return null;
  }

  /** Enter after a backslash at the end, or with Alt, inserts a new line; otherwise it submits. */
  #enter(isNewLine: boolean): KeyAction {
    if (isNewLine) this.#insert('\n');
    else if (this.#cursor === this.#characters.length && this.#characters.at(-1) === '\\') {
      this.#remove(this.#cursor - 1, this.#cursor);
      this.#insert('\n');
    } else return 'submit';
    return null;
  }

  #control(name: string): KeyAction {
    if (name === 'c') return 'interrupt';
    if (name === 'l') return 'redraw';
    if (name === 'd' && this.#characters.length === 0) return 'leave';
    if (name === 'left' || name === 'right') this.#word(name === 'left' ? 'b' : 'f');
    else this.#controls[name]?.();
    return null;
  }

  readonly #controls: Readonly<Record<string, () => void>> = {
    a: () => this.#goTo(this.#lineStart(this.#cursor)),
    e: () => this.#goTo(this.#lineEnd(this.#cursor)),
    b: () => this.#goTo(this.#cursor - 1),
    f: () => this.#goTo(this.#cursor + 1),
    d: () => this.#remove(this.#cursor, this.#cursor + 1),
    h: () => this.#remove(this.#cursor - 1, this.#cursor),
    u: () => this.#remove(this.#lineStart(this.#cursor), this.#cursor),
    k: () => this.#remove(this.#cursor, this.#lineEnd(this.#cursor)),
    w: () => this.#remove(this.#wordStart(), this.#cursor),
    p: () => this.#recall(-1),
    n: () => this.#recall(1),
  };

  #word(name: string): void {
    if (name === 'b' || name === 'left') this.#goTo(this.#wordStart());
    else if (name === 'f' || name === 'right') this.#goTo(this.#wordEnd());
    else if (name === 'd') this.#remove(this.#cursor, this.#wordEnd());
    else if (name === 'backspace') this.#remove(this.#wordStart(), this.#cursor);
  }

  /** Handles keys that move or delete; false: the key is another one. */
  #move(name: string): boolean {
    const move = this.#moves[name];
    move?.();
    return move !== undefined;
  }

  readonly #moves: Readonly<Record<string, () => void>> = {
    left: () => this.#goTo(this.#cursor - 1),
    right: () => this.#goTo(this.#cursor + 1),
    home: () => this.#controls.a!(),
    end: () => this.#controls.e!(),
    up: () => this.#vertical(-1),
    down: () => this.#vertical(1),
    backspace: () => this.#controls.h!(),
    delete: () => this.#remove(this.#cursor, this.#cursor + 1),
  };

  /** Moves to the line above or below; from the first or last line, to another entry of the history. */
  #vertical(step: -1 | 1): void {
    const start = this.#lineStart(this.#cursor);
    const end = this.#lineEnd(this.#cursor);
    const column = this.#cursor - start;
    if (step < 0 && start > 0) this.#goTo(Math.min(this.#lineStart(start - 1) + column, start - 1));
    else if (step > 0 && end < this.#characters.length) this.#goTo(Math.min(end + 1 + column, this.#lineEnd(end + 1)));
    else this.#recall(step);
  }

  #recall(step: -1 | 1): void {
    const next = this.#at + step;
    if (next < 0 || next > this.#history.length) return;
    if (this.#at === this.#history.length) this.#unsent = this.text;
    this.#at = next;
    this.#set(this.#history[next] ?? this.#unsent);
  }

  #set(text: string): void {
    this.#characters = [...text];
    this.#cursor = this.#characters.length;
  }

  #insert(text: string): void {
    const characters = [...text];
    this.#characters.splice(this.#cursor, 0, ...characters);
    this.#cursor += characters.length;
  }

  #remove(from: number, to: number): void {
    const start = Math.max(0, from);
    this.#characters.splice(start, Math.max(0, to - start));
    if (this.#cursor > start) this.#cursor = Math.max(start, this.#cursor - (to - start));
  }

  #goTo(at: number): void {
    this.#cursor = Math.max(0, Math.min(this.#characters.length, at));
  }

  #lineStart(at: number): number {
    return at === 0 ? 0 : this.#characters.lastIndexOf('\n', at - 1) + 1;
  }

  #lineEnd(at: number): number {
    const end = this.#characters.indexOf('\n', at);
    return end < 0 ? this.#characters.length : end;
  }

  #wordStart(): number {
    const before = this.#characters.slice(0, this.#cursor).join('');
    return [...before.replace(/\S+\s*$/, '')].length;
  }

  #wordEnd(): number {
    const rest = this.#characters.slice(this.#cursor).join('');
    return this.#cursor + [.../^\s*\S*/.exec(rest)![0]].length;
  }
}

function typed({ sequence = '' }: TypedKey): string {
  // Keys without a character, such as F1, arrive as control sequences.
  return /^[\u0000-\u001f\u007f]/.test(sequence) && sequence !== '\t' ? '' : sequence;
}

function pasted(key: TypedKey): string {
  return key.name === 'return' || key.name === 'enter' ? '\n' : typed(key);
}
