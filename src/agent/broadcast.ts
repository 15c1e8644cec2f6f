/**
 * What the adapter says, to everybody who listens. A story's progress is told at most every two seconds, its last words win;
 * a change of its status is told at once and never left out. Whoever is slow misses words, but no status; whoever comes
 * later is told how everything stands.
 */
import { encodeMessage } from '../model/message-line.ts';
import { clip } from '../model/shape.ts';
import {
  type Completion,
  type MessageFromAdapter,
  maxOutput,
  type StoryStatus,
  type SwarmErrorCode,
} from '../model/swarm-message.ts';

export interface Listener {
  write(line: Buffer): void;
  /** It has not taken in yet what it was told. */
  isBehind(): boolean;
}

export interface Clock {
  /** For people. It may jump. */
  now(): Date;
  /** In milliseconds; it never goes back. */
  elapsed(): number;
  /** Returns what calls it off. */
  after(ms: number, call: () => void): () => void;
}

export interface Ids {
  readonly swarmId: string;
  readonly containerId: string;
}

const wordsEveryMs = 2000;
/** A story in progress is told again after that long, though nothing changed. */
export const beatMs = 10_000;

/** Stands for none of the stories: the adapter itself is at work. */
const noStory = 'US-000';

interface Told {
  readonly status: StoryStatus;
  /** Asked when it is told: an agent may say more than anybody could be told. */
  output: () => string;
  saidAt: number;
  /** It is told again at that time. */
  dueAt: number;
  cancel: () => void;
}

type Payload<T extends MessageFromAdapter['type']> = Extract<MessageFromAdapter, { type: T }>['payload'];

export class Voice {
  readonly #ids: Ids;
  readonly #clock: Clock;
  readonly #listeners = new Set<Listener>();
  readonly #stories = new Map<string, Told>();
  #completion: Completion | null = null;

  constructor(ids: Ids, clock: Clock) {
    this.#ids = ids;
    this.#clock = clock;
  }

  /** Told how everything stands, and from now on what changes. */
  add(listener: Listener): void {
    for (const [storyId, told] of this.#stories) listener.write(this.#progress(storyId, told));
    if (this.#completion !== null) listener.write(this.#line('completion', this.#completion));
    this.#listeners.add(listener);
  }

  remove(listener: Listener): void {
    this.#listeners.delete(listener);
  }

  status(storyId: string, status: StoryStatus, output: string): void {
    this.#stories.get(storyId)?.cancel();
    const told = { status, output: () => output, saidAt: 0, dueAt: 0, cancel: () => {} };
    this.#stories.set(storyId, told);
    this.#tell(storyId, told, true);
  }

  /** Something about a story whose status is as it was. */
  words(storyId: string, output: () => string): void {
    const told = this.#stories.get(storyId);
    if (told === undefined) return;
    told.output = output;
    this.#tellAt(storyId, told, told.saidAt + wordsEveryMs);
  }

  /** Something that is no story takes its time. Returns what ends the telling of it. */
  busy(output: string): () => void {
    this.status(noStory, 'in_progress', output);
    return () => {
      this.#stories.get(noStory)?.cancel();
      this.#stories.delete(noStory);
    };
  }

  error(code: SwarmErrorCode, message: string): void {
    this.#say(this.#line('error', { code, message: clip(message, maxOutput) }), true);
  }

  /** What is wrong with what somebody said. Whoever floods us and does not listen is not told all of it. */
  refusal(reason: string): void {
    this.#say(this.#line('error', { code: 'INVALID_INPUT', message: clip(reason, maxOutput) }), false);
  }

  completion(completion: Completion): void {
    for (const told of this.#stories.values()) told.cancel();
    this.#completion = completion;
    this.#say(this.#line('completion', completion), true);
  }

  #tell(storyId: string, told: Told, always: boolean): void {
    told.saidAt = this.#clock.elapsed();
    told.dueAt = Number.POSITIVE_INFINITY;
    this.#say(this.#progress(storyId, told), always);
    if (told.status === 'in_progress') this.#tellAt(storyId, told, told.saidAt + beatMs);
  }

  /** Then, unless it is sooner anyway. */
  #tellAt(storyId: string, told: Told, at: number): void {
    if (told.dueAt <= at) return;
    told.cancel();
    told.dueAt = at;
    told.cancel = this.#clock.after(Math.max(0, at - this.#clock.elapsed()), () => this.#tell(storyId, told, false));
  }

  #progress(storyId: string, { status, output }: Told): Buffer {
    return this.#line('progress-update', { storyId, status, output: clip(output(), maxOutput) });
  }

  #say(line: Buffer, always: boolean): void {
    for (const listener of this.#listeners) if (always || !listener.isBehind()) listener.write(line);
  }

  #line<T extends MessageFromAdapter['type']>(type: T, payload: Payload<T>): Buffer {
    const timestamp = this.#clock.now().toISOString();
    return encodeMessage({ type, timestamp, ...this.#ids, payload } as MessageFromAdapter);
  }
}

export const realClock: Clock = {
  now: () => new Date(),
  elapsed: () => performance.now(),
  after: (ms, call) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};
