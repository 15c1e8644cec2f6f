/**
 * The output of a command. Results go to stdout; everything about them (notes, warnings, progress, errors) to
 * stderr. With `--json` stdout carries JSON only and stderr carries errors only, as JSON too.
 */
import { type Fault, faultTable } from '../../model/fault.ts';
import { plainJson } from '../../model/invisible.ts';
import { cut, plain, plainLines } from './text.ts';

const colours = { red: 31, green: 32, yellow: 33, cyan: 36, dim: 2, bold: 1 } as const;
export type Colour = keyof typeof colours;

/** Aligns the lines of a hint below each other. */
const hintIndent = `\n${' '.repeat('  hint: '.length)}`;

export interface Sink {
  write(data: string | Uint8Array): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

export class Output {
  readonly json: boolean;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly #colourful: boolean;
  #drawn = 0;
  #isQuestionOpen = false;
  /** Replaces API fields by options in error messages; set when the command is known. */
  reword = (fault: Fault) => fault;

  constructor(json: boolean, stdout: Sink = process.stdout, stderr: Sink = process.stderr, env = process.env) {
    this.json = json;
    this.stdout = stdout;
    this.stderr = stderr;
    this.#colourful = !env.NO_COLOR && env.TERM !== 'dumb';
  }

  /** Result lines. The caller has made foreign text safe. */
  print(...lines: readonly string[]): void {
    if (lines.length > 0) this.stdout.write(`${lines.join('\n')}\n`);
  }

  /** One JSON document, or one line of a stream of them. */
  document(value: unknown, indent = 2): void {
    this.stdout.write(`${plainJson(JSON.stringify(value, null, indent))}\n`);
  }

  /** A line for a person; printed only at a terminal. */
  note(text: string): void {
    if (this.interactive) this.stderr.write(`${plain(text)}\n`);
  }

  /** A line about the result on stderr, at a terminal or not. */
  say(text: string): void {
    if (!this.json) this.stderr.write(`${plain(text)}\n`);
  }

  /** A warning: the command goes on. */
  warn(text: string): void {
    if (!this.json) this.stderr.write(`carrel: ${plain(text)}\n`);
  }

  /** Prints an error and returns its exit code. */
  fail(refusal: Fault): number {
    const fault = this.reword(refusal);
    this.stderr.write(this.json ? `${plainJson(JSON.stringify(fault))}\n` : this.#explain(fault));
    return faultTable[fault.code].exit;
  }

  paint(colour: Colour, text: string): string {
    if (text === '') return '';
    return this.#tint(this.stdout, colour, text);
  }

  /** The columns of the terminal that shows stdout; null: stdout is not a terminal. */
  get columns(): number | null {
    return this.stdout.isTTY === true ? this.stdout.columns || 80 : null;
  }

  /** The rows of the terminal that shows stdout. */
  get rows(): number {
    return this.stdout.rows || 24;
  }

  /** Whether `paint` adds colours. */
  get colourful(): boolean {
    return this.#colourful && this.stdout.isTTY === true;
  }

  /** Whether stderr is a terminal. */
  get interactive(): boolean {
    return !this.json && this.stderr.isTTY === true;
  }

  /** Replaces the line on the terminal that shows progress; empty clears it. On a narrow terminal `end` stays whole. */
  progress(text: string, end = ''): void {
    const line = cut(plain(text), (this.stderr.columns || 80) - 1 - end.length) + end;
    if (this.interactive && !this.#isQuestionOpen) this.stderr.write(`\r\u001b[K${line}`);
  }

  /** While the answer to a question is awaited, progress is not drawn, because it would overwrite the question. */
  async withoutProgress<T>(answer: Promise<T>): Promise<T> {
    this.#isQuestionOpen = true;
    try {
      return await answer;
    } finally {
      this.#isQuestionOpen = false;
    }
  }

  /** Replaces the lines that the last call drew, on a terminal that shows stdout. */
  redraw(lines: readonly string[]): void {
    const up = this.#drawn > 0 ? `\u001b[${this.#drawn}A` : '';
    this.stdout.write(`${up}${lines.map((line) => `\u001b[2K${line}\n`).join('')}\u001b[J`);
    this.#drawn = lines.length;
  }

  #explain(fault: Fault): string {
    const message = `${this.#tint(this.stderr, 'red', 'carrel:')} ${plainLines(fault.message).replaceAll('\n', '\n  ')}\n`;
    if (fault.hint === undefined) return message;
    return `${message}  ${this.#tint(this.stderr, 'cyan', 'hint:')} ${plainLines(fault.hint).replaceAll('\n', hintIndent)}\n`;
  }

  #tint(sink: Sink, colour: Colour, text: string): string {
    return this.#colourful && sink.isTTY === true ? `\u001b[${colours[colour]}m${text}\u001b[0m` : text;
  }
}
