/**
 * The host's copy of the sessions of a sandbox: one log per session that no agent can reach, with the same lines as the log inside.
 *
 * Life cycle: the folder of a sandbox is opened when one of its sessions is used. The first event of a session makes its copy, further
 * events extend it, `remove` removes it. A note of the removal stays until the program inside has removed its log, too; events that still arrive
 * are ignored. The copies go with the folder of the sandbox.
 *
 * Promises: rules S1 and S6 of `docs/formats/session.md`: a line is durable before a follower sees it, and never changes. What does not fit is
 * refused as `corrupt` (S8), and nothing of it is kept.
 */

import type { SessionFold } from './model/fold.ts';
import type { SessionEvent } from './model/session.ts';

export interface CopiedEvent {
  readonly event: SessionEvent;
  /** As it is on disk, without the newline. */
  readonly line: string;
}

export interface CopiedSession {
  readonly id: string;
  /** The state that follows from the durable events. */
  readonly fold: SessionFold;
  /** Resolves when the line is durable. */
  append(line: string): Promise<SessionEvent>;
  /** Events after `seq`, then as they come, until the signal or until the session is removed. */
  follow(after: number, signal: AbortSignal): AsyncIterable<CopiedEvent>;
  /** The whole log. */
  lines(): AsyncIterable<string>;
  /** Digest of the lines up to `seq`: `sha256(digest(seq - 1) + line)` as hex, '' for 0. */
  digest(seq: number): Promise<string>;
}

/** The copies of one sandbox. */
export interface SessionCopies {
  /** Oldest first. */
  list(): readonly CopiedSession[];
  find(id: string): CopiedSession | null;
  /** `id` is the session that the line belongs to; its first line makes the copy. Null: the session was removed here. */
  append(id: string, line: string): Promise<SessionEvent | null>;
  /** Waits for pending appends. After a failed append, the next ones continue at the end of the log. */
  settle(): Promise<void>;
  remove(id: string): Promise<void>;
  /** Ids of sessions that are removed here, and not yet inside. */
  readonly removed: readonly string[];
  /** Drops the note of a removal: the session is removed inside, too. */
  forget(id: string): Promise<void>;
  close(): Promise<void>;
}
