/** What an engine says while it builds → steps, and what went wrong in which. */
import { Fault } from '../model/fault.ts';
import type { Step } from './dockerfile/recipe.ts';
import type { BuildEvent, BuildMessage } from './image.ts';

const keptLines = 20;
const maxLine = 400;

export interface BuildOf {
  /** Where the steps are from. */
  readonly file: string;
  readonly steps: readonly Step[];
  readonly hint: string;
}

export class Progress {
  readonly #of: BuildOf;
  #step = 0;
  #lines: string[] = [];
  #rest = '';

  constructor(of: BuildOf) {
    this.#of = of;
  }

  /** Throws what went wrong. */
  take(message: BuildMessage): BuildEvent[] {
    if (message.kind === 'failure') throw this.#failure(message.message, message.exitCode);
    if (message.kind === 'image') return [];
    const lines = (this.#rest + message.text).split('\n');
    const rest = lines.pop()!;
    // A step is announced without the end of its line.
    const announced = this.#announced(rest);
    this.#rest = announced === null ? rest.slice(0, maxLine) : '';
    return [...lines.flatMap((line) => this.#line(line)), ...(announced === null ? [] : [announced])];
  }

  #line(line: string): BuildEvent[] {
    const announced = this.#announced(line);
    if (announced !== null) return [announced];
    const text = line.trimEnd().slice(0, maxLine);
    if (text === '' || isChatter(text)) return [];
    this.#lines = [...this.#lines, text].slice(-keptLines);
    return [{ kind: 'output', text }];
  }

  /** Only the next one can be: what a command prints is no step. */
  #announced(line: string): BuildEvent | null {
    const [, number, total] = /^Step (\d+)\/(\d+) ?: /i.exec(line) ?? [];
    if (Number(number) !== this.#step + 1 || Number(total) !== this.#of.steps.length) return null;
    this.#step += 1;
    this.#lines = [];
    return {
      kind: 'step',
      number: this.#step,
      total: this.#of.steps.length,
      title: this.#of.steps[this.#step - 1]!.title,
    };
  }

  #failure(message: string, exitCode: number | null): Fault {
    const { file, steps, hint } = this.#of;
    const step = steps[this.#step - 1];
    if (step === undefined) return new Fault('unavailable', `the engine cannot build ${file}: ${message}`);
    const where = step.line === 0 ? file : `${file}, line ${step.line}`;
    const how = exitCode === null ? message : `exit code ${exitCode}`;
    const head = `${where}: step ${this.#step} of ${steps.length} failed (${how}): ${step.title.slice(0, 200)}`;
    return new Fault('invalid', [head, ...this.#lines].join('\n'), {
      hint,
      data: { file, line: step.line, step: this.#step, exitCode, output: this.#lines },
    });
  }
}

/** What the engine says about containers and layers of its own. */
function isChatter(text: string): boolean {
  return /^ ---> |^Removing intermediate container |^Successfully (built|tagged) /.test(text);
}
