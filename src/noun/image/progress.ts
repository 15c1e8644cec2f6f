/** Turns the messages of a build into steps, and errors into the step that failed. */
import { Fault } from '../../model/fault.ts';
import type { BuildStep } from './dockerfile/dockerfile.ts';
import type { BuildEvent, BuildMessage } from './image.ts';

const keptLines = 20;
const maxLine = 400;

export interface BuildOf {
  /** The file that the steps are from. */
  readonly file: string;
  readonly steps: readonly BuildStep[];
  readonly hint: string;
}

export class BuildProgress {
  readonly #of: BuildOf;
  #step = 0;
  #lines: string[] = [];
  #rest = '';

  constructor(of: BuildOf) {
    this.#of = of;
  }

  /** The events of one message; all lines of output between two steps are one event. Throws the failure of a build. */
  take(message: BuildMessage): BuildEvent[] {
    if (message.kind === 'failure') throw this.#failure(message.message, message.exitCode);
    if (message.kind === 'image') return [];
    const lines = (this.#rest + message.text).split('\n');
    // The engine announces a step without a newline at the end.
    const last = lines.pop()!;
    this.#rest = isAnnouncement(last) ? '' : last.slice(0, maxLine);
    let remaining = isAnnouncement(last) ? [...lines, last] : lines;
    const events: BuildEvent[] = [];
    for (let at = this.#next(remaining); at >= 0; at = this.#next(remaining)) {
      events.push(...this.#printed(remaining.slice(0, at)), this.#begin());
      remaining = remaining.slice(at + 1);
    }
    return [...events, ...this.#printed(remaining)];
  }

  /** The line that announces the next step. Only the next number counts, because a command may print similar lines. */
  #next(lines: readonly string[]): number {
    return lines.findIndex((line) => {
      const [number, total] = isAnnouncement(line) ?? [];
      return number === this.#step + 1 && total === this.#of.steps.length;
    });
  }

  #begin(): BuildEvent {
    const { steps } = this.#of;
    this.#step += 1;
    this.#lines = [];
    return { kind: 'step', number: this.#step, total: steps.length, title: steps[this.#step - 1]!.title };
  }

  #printed(lines: readonly string[]): BuildEvent[] {
    const texts = lines
      .map((line) => line.slice(0, maxLine).trimEnd())
      .filter((text) => text !== '' && !isEngineMessage(text));
    if (texts.length === 0) return [];
    this.#lines = [...this.#lines, ...texts.slice(-keptLines)].slice(-keptLines);
    return [{ kind: 'output', text: texts.join('\n') }];
  }

  #failure(message: string, exitCode: number | null): Fault {
    const { file, steps, hint } = this.#of;
    const step = steps[this.#step - 1];
    if (step === undefined) return new Fault('unavailable', `the engine cannot build ${file}: ${message}`);
    const where = step.line === 0 ? file : `${file}, line ${step.line}`;
    const how = exitCode === null ? message : `exit code ${exitCode}`;
    const head = `${where}: step ${this.#step} of ${steps.length} failed (${how}): ${step.title.slice(0, 200)}`;
    const isFull = [message, ...this.#lines].some((line) => /no space left on device/i.test(line));
    return new Fault(isFull ? 'exhausted' : 'invalid', [head, ...this.#lines].join('\n'), {
      hint: isFull ? 'Free some disk space, and build again.' : hint,
      data: { file, line: step.line, step: this.#step, exitCode, output: this.#lines },
    });
  }
}

function isAnnouncement(line: string): [number: number, total: number] | null {
  const match = /^Step (\d+)\/(\d+) ?: /i.exec(line);
  return match && [Number(match[1]), Number(match[2])];
}

/** Whether the line is a report of the engine about its containers and layers. */
function isEngineMessage(text: string): boolean {
  return /^ ---> |^Removing intermediate container |^Successfully (built|tagged) /.test(text);
}
