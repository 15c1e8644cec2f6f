/** What whoever looks after a container needs of the world. Each act is repeat-safe, and may be cut off anywhere. */
import type { Readable, Writable } from 'node:stream';
import type { Outcome } from '../model/outcome.ts';
import type { FetchedTip, ObservedContainer, SwarmContainer } from '../model/swarm.ts';

/** The streams of an adapter. */
export interface Line {
  readonly input: Writable;
  readonly output: Readable;
  /** Lets go of it; the adapter goes on. */
  close(): void;
}

/** What the adapter wrote down, and a digest that tells it from any other. */
export interface KeptRecord {
  readonly outcome: Outcome;
  readonly digest: string;
}

export interface Fetched {
  readonly tips: readonly FetchedTip[];
  /** Ids of stories whose commits are on the host now. */
  readonly stories: readonly string[];
}

export interface Surface {
  /**
   * Makes its sandbox where there is none, and starts one that has ended. Returns when it runs, or has run, with the number that
   * its first process has on the host, if there is one.
   */
  begin(container: SwarmContainer): Promise<number | null>;
  observe(container: SwarmContainer): Promise<ObservedContainer>;
  connect(container: SwarmContainer): Promise<Line>;
  /** Null: there is none, or none that could be one. */
  record(container: SwarmContainer): Promise<KeptRecord | null>;
  /** SIGTERM and then SIGKILL; returns when nothing of it runs. */
  stop(container: SwarmContainer): Promise<void>;
  /** Returns when nothing of it runs, or after that time. */
  ended(container: SwarmContainer, withinMs: number): Promise<void>;
  /** Its commits, brought to the host. */
  fetch(container: SwarmContainer): Promise<Fetched>;
  /** Writes what became of its stories into the task file of the project; only what is safe is completed there. */
  note(container: SwarmContainer): Promise<void>;
}
