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

export const wordsEveryMs = 2000;
/** A story in progress is told again after that long, though nothing changed. */
export const beatMs = 10_000;

interface Told {
  status: StoryStatus;
  output: string;
  saidAt: number;
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
    for (const [storyId, { status, output }] of this.#stories) {
      listener.write(this.#line('progress-update', { storyId, status, output }));
    }
    if (this.#completion !== null) listener.write(this.#line('completion', this.#completion));
    this.#listeners.add(listener);
  }

  remove(listener: Listener): void {
    this.#listeners.delete(listener);
  }

  status(storyId: string, status: StoryStatus, output: string): void {
    this.#stories.get(storyId)?.cancel();
    this.#stories.set(storyId, { status, output: clip(output, maxOutput), saidAt: 0, cancel: () => {} });
    this.#tell(storyId, true);
  }

  /** Something about a story whose status is as it was. */
  words(storyId: string, output: string): void {
    const told = this.#stories.get(storyId);
    if (told === undefined) return;
    told.output = clip(output, maxOutput);
    const due = told.saidAt + wordsEveryMs - this.#clock.elapsed();
    told.cancel();
    if (due <= 0) this.#tell(storyId, false);
    else told.cancel = this.#clock.after(due, () => this.#tell(storyId, false));
  }

  error(code: SwarmErrorCode, message: string): void {
    this.#say(this.#line('error', { code, message: clip(message, maxOutput) }), true);
  }

  completion(completion: Completion): void {
    for (const told of this.#stories.values()) told.cancel();
    this.#completion = completion;
    this.#say(this.#line('completion', completion), true);
  }

  #tell(storyId: string, always: boolean): void {
    const told = this.#stories.get(storyId)!;
    const { status, output } = told;
    told.saidAt = this.#clock.elapsed();
    this.#say(this.#line('progress-update', { storyId, status, output }), always);
    told.cancel = status === 'in_progress' ? this.#clock.after(beatMs, () => this.#tell(storyId, false)) : () => {};
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
