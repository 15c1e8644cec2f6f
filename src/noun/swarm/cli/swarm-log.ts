/**
 * The output of a swarm's sandbox as a conversation: text of agents from its stderr, results of stories from its
 * stdout.
 */
import { Lines } from '../../../lib/wire/lines.ts';
import { errorText, type MessageFromAdapter, type StoryStatus, type SwarmMessage } from '../model/message.ts';
import { MessageReader, type Read } from '../model/message-line.ts';

export interface LogEntry {
  /** Null: the entry is about the whole task file. */
  readonly story: string | null;
  readonly kind: 'said' | 'status' | 'error' | 'end';
  readonly text: string;
}

const maxLineBytes = 64 * 1024;
const outputPattern = /^(US-\d{3}) (.*)$/s;

export class SwarmLog {
  readonly #reader = new MessageReader();
  readonly #lines = new Lines(maxLineBytes);
  readonly #statuses = new Map<string, StoryStatus>();
  readonly #errors = new Set<string>();

  stdout(chunk: Buffer): LogEntry[] {
    return [...this.#reader.push(chunk)].flatMap((read) => this.#entries(read));
  }

  stderr(chunk: Buffer): LogEntry[] {
    return this.#lines.push(chunk).map(outputEntry);
  }

  end(): LogEntry[] {
    return this.#lines.end().map(outputEntry);
  }

  /** Output that is not a message comes from some other program and is left out. */
  #entries(read: Read): LogEntry[] {
    if (!('message' in read) || !isFromAdapter(read.message)) return [];
    const { type, payload } = read.message;
    if (type === 'progress-update') return this.#progress(payload.storyId, payload.status, payload.output);
    if (type === 'error') return this.#error(errorText(payload.code, payload.message));
    const errors = payload.errors.flatMap((error) => this.#error(error));
    return [...errors, { story: null, kind: 'end', text: payload.status }];
  }

  /** After a reconnect the adapter repeats its messages, so a known status is left out. */
  #progress(story: string, status: StoryStatus, output: string): LogEntry[] {
    if (this.#statuses.get(story) === status) return [];
    this.#statuses.set(story, status);
    const why = status === 'failed' && output !== '' ? `: ${output}` : '';
    return [{ story, kind: 'status', text: `${status.replace('_', ' ')}${why}` }];
  }

  /** The completion repeats earlier errors, so a known error is left out. */
  #error(text: string): LogEntry[] {
    if (this.#errors.has(text)) return [];
    this.#errors.add(text);
    return [{ story: null, kind: 'error', text }];
  }
}

function isFromAdapter(message: SwarmMessage): message is MessageFromAdapter {
  return message.type !== 'task-request';
}

function outputEntry(line: string): LogEntry {
  const [, story = null, text = line] = outputPattern.exec(line) ?? [];
  return { story, kind: 'said', text };
}
