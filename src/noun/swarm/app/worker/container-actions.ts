/**
 * What the worker of a container does outside of the store: to its sandbox, its commits and its task file. Each action
 * is idempotent and may be interrupted anywhere.
 */
import type { Readable, Writable } from 'node:stream';
import type { ObservedContainer } from '../../../../model/foreign-container.ts';
import type { Outcome } from '../../model/outcome.ts';
import type { FetchedTip, SwarmContainer } from '../../model/swarm.ts';

/** The streams of an adapter. */
export interface AdapterConnection {
  readonly input: Writable;
  readonly output: Readable;
  /** Disconnects; the adapter goes on. */
  close(): void;
}

/** The outcome that the adapter wrote to its disk, and a digest of it. */
export interface RecordedOutcome {
  readonly outcome: Outcome;
  readonly digest: string;
}

export interface Fetched {
  readonly tips: readonly FetchedTip[];
  /** Ids of stories whose commits are on the host now. */
  readonly stories: readonly string[];
}

export interface ContainerActions {
  /**
   * Creates the sandbox, or starts one that has ended. Returns when it runs, or has run, with the pid that its first
   * process has on the host, if there is one.
   */
  begin(container: SwarmContainer): Promise<number | null>;
  observe(container: SwarmContainer): Promise<ObservedContainer>;
  connect(container: SwarmContainer): Promise<AdapterConnection>;
  /** Null: there is none, or it is not valid. */
  record(container: SwarmContainer): Promise<RecordedOutcome | null>;
  /** Sends SIGTERM, then SIGKILL; returns when no process of the sandbox runs. */
  stop(container: SwarmContainer): Promise<void>;
  /** Returns when no process of the sandbox runs, or after the time-out. */
  ended(container: SwarmContainer, timeoutMs: number): Promise<void>;
  /** Brings its commits to the host. */
  fetch(container: SwarmContainer): Promise<Fetched>;
  /**
   * Writes the status of its stories into the task file of the project; `completed` only if the commit is on the host.
   */
  note(container: SwarmContainer): Promise<void>;
}
