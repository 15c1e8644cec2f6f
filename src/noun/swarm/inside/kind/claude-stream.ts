/** Parser for `--output-format stream-json` of the Claude Code CLI: one object per line, the last of type `result`. */

import { LastLines } from '../../../agent/inside/last-lines.ts';
import type { AgentResult } from '../inside.ts';

type Event = Readonly<Record<string, unknown>>;

interface Result {
  readonly failed: boolean;
  readonly text: string;
}

export class ClaudeStream {
  readonly #other = new LastLines();
  #result: Result | null = null;

  /** The text of an event, in lines. */
  take(line: string): string[] {
    const event = parseEvent(line);
    if (event === null) this.addOther(line);
    else if (event.type === 'result') this.#result = resultOf(event);
    return event === null ? [] : outputOf(event);
  }

  /** Output that is not part of the stream, such as stderr. */
  addOther(...lines: readonly string[]): void {
    this.#other.add(...lines);
  }

  end(exitCode: number): AgentResult {
    const words = this.#other.toString();
    if (this.#result === null) {
      const summary = `claude ended with ${exitCode} and without a result${words && `: ${words}`}`;
      return { status: 'failed', summary, code: 'AGENT_CRASH' };
    }
    const { failed, text } = this.#result;
    if (exitCode === 0 && !failed) return { status: 'completed', summary: text, code: null };
    return { status: 'failed', summary: text || words || `claude ended with ${exitCode}`, code: null };
  }
}

function parseEvent(line: string): Event | null {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function resultOf({ result, subtype, is_error: isError }: Event): Result {
  return { failed: isError === true || subtype !== 'success', text: textOf(result) || textOf(subtype) };
}

/** Text of the agent and its tool calls. */
function outputOf({ type, message }: Event): string[] {
  if (type !== 'assistant' || !isObject(message) || !Array.isArray(message.content)) return [];
  return message.content.filter(isObject).flatMap((block) => {
    if (block.type === 'text') return [textOf(block.text)];
    return block.type === 'tool_use' ? [`[${textOf(block.name)}] ${subject(block.input)}`.trim()] : [];
  });
}

/** The most informative argument of a tool call. */
function subject(input: unknown): string {
  if (!isObject(input)) return '';
  return textOf(input.file_path ?? input.command ?? input.pattern ?? input.description).split('\n')[0]!;
}

function isObject(value: unknown): value is Event {
  return typeof value === 'object' && value !== null;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
