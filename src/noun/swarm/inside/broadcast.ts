/**
 * Sends the messages of the adapter to all listeners. Progress of a story is sent at most every two seconds, with its latest
 * output; a change of its status is sent at once and never left out. A slow listener misses output, but no status; a new one
 * gets the whole state.
 */

import { clip } from '../../../model/shape.ts';
import {
  type Completion,
  type MessageFromAdapter,
  maxOutput,
  type StoryStatus,
  type SwarmErrorCode,
} from '../model/message.ts';
import { encodeMessage } from '../model/message-line.ts';

export interface SwarmListener {
  write(line: Buffer): void;
  /** True: the listener has not read earlier messages yet. */
  isBehind(): boolean;
}

export interface AdapterClock {
  /** Wall clock; it may jump. */
  now(): Date;
  /** In milliseconds; it never goes back. */
  elapsed(): number;
  /** Returns the function that cancels it. */
  after(ms: number, call: () => void): () => void;
}

export interface SwarmIds {
  readonly swarmId: string;
  readonly containerId: string;
}

const outputEveryMs = 2000;
/** Heartbeat: a story in progress is sent again after this time without a change. */
export const beatMs = 10_000;

/** The story id in progress messages of the adapter itself. */
const noStory = 'US-000';

interface SentStory {
  readonly status: StoryStatus;
  /** Called when the message is sent, because an agent prints more than is sent. */
  output: () => string;
  sentAt: number;
  /** The time of the next message. */
  dueAt: number;
  cancel: () => void;
}

type Payload<T extends MessageFromAdapter['type']> = Extract<MessageFromAdapter, { type: T }>['payload'];

export class Broadcast {
  readonly #ids: SwarmIds;
  readonly #clock: AdapterClock;
  readonly #listeners = new Set<SwarmListener>();
  readonly #stories = new Map<string, SentStory>();
  #completion: Completion | null = null;

  constructor(ids: SwarmIds, clock: AdapterClock) {
    this.#ids = ids;
    this.#clock = clock;
  }

  /** Sends the whole state, and later changes. */
  add(listener: SwarmListener): void {
    for (const [storyId, sent] of this.#stories) listener.write(this.#progress(storyId, sent));
    if (this.#completion !== null) listener.write(this.#line('completion', this.#completion));
    this.#listeners.add(listener);
  }

  remove(listener: SwarmListener): void {
    this.#listeners.delete(listener);
  }

  status(storyId: string, status: StoryStatus, output: string): void {
    this.#stories.get(storyId)?.cancel();
    const sent = { status, output: () => output, sentAt: 0, dueAt: 0, cancel: () => {} };
    this.#stories.set(storyId, sent);
    this.#sendStory(storyId, sent, true);
  }

  /** New output of a story whose status did not change. */
  output(storyId: string, output: () => string): void {
    const sent = this.#stories.get(storyId);
    if (sent === undefined) return;
    sent.output = output;
    this.#sendAt(storyId, sent, sent.sentAt + outputEveryMs);
  }

  /** Heartbeats for work that is no story. Returns the function that ends them. */
  busy(output: string): () => void {
    this.status(noStory, 'in_progress', output);
    return () => {
      this.#stories.get(noStory)?.cancel();
      this.#stories.delete(noStory);
    };
  }

  error(code: SwarmErrorCode, message: string): void {
    this.#send(this.#line('error', { code, message: clip(message, maxOutput) }), true);
  }

  /** An error about invalid input. Listeners that are behind do not get it. */
  refusal(reason: string): void {
    this.#send(this.#line('error', { code: 'INVALID_INPUT', message: clip(reason, maxOutput) }), false);
  }

  completion(completion: Completion): void {
    for (const sent of this.#stories.values()) sent.cancel();
    this.#completion = completion;
    this.#send(this.#line('completion', completion), true);
  }

  #sendStory(storyId: string, sent: SentStory, always: boolean): void {
    sent.sentAt = this.#clock.elapsed();
    sent.dueAt = Number.POSITIVE_INFINITY;
    this.#send(this.#progress(storyId, sent), always);
    if (sent.status === 'in_progress') this.#sendAt(storyId, sent, sent.sentAt + beatMs);
  }

  /** Schedules the next message, unless one is due sooner. */
  #sendAt(storyId: string, sent: SentStory, at: number): void {
    if (sent.dueAt <= at) return;
    sent.cancel();
    sent.dueAt = at;
    sent.cancel = this.#clock.after(Math.max(0, at - this.#clock.elapsed()), () =>
      this.#sendStory(storyId, sent, false),
    );
  }

  #progress(storyId: string, { status, output }: SentStory): Buffer {
    return this.#line('progress-update', { storyId, status, output: clip(output(), maxOutput) });
  }

  #send(line: Buffer, always: boolean): void {
    for (const listener of this.#listeners) if (always || !listener.isBehind()) listener.write(line);
  }

  #line<T extends MessageFromAdapter['type']>(type: T, payload: Payload<T>): Buffer {
    const timestamp = this.#clock.now().toISOString();
    return encodeMessage({ type, timestamp, ...this.#ids, payload } as MessageFromAdapter);
  }
}

export const realClock: AdapterClock = {
  now: () => new Date(),
  elapsed: () => performance.now(),
  after: (ms, call) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};
