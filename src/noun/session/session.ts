/**
 * Sessions: conversations with agents in sandboxes. The format and the rules are in `docs/formats/session.md`.
 *
 * Life cycle: created, in a sandbox or together with one → prompts, questions and answers → closed or removed. The agent API, a program
 * inside (`inside/inside.ts`), has the session and its agent, and writes the log. The daemon keeps a copy of the log that no agent can reach,
 * and connects again whenever the connection is lost (`app/session-link.ts`).
 *
 * Promises:
 * - Clients read and follow the copy alone, so a session can be read while its sandbox is stopped. A change is answered
 *   when its events are in the copy.
 * - A session and its turns go on without the daemon; what happened meanwhile is copied when it is back.
 * - A request that is repeated with the same `sessionId` or `turnId` does nothing twice.
 * - What comes from inside is checked. Invalid data ends the connection and is reported; lines of the copy never change.
 *
 * The copies of a sandbox are one log per session, with the same lines as the log inside. The folder is opened when one of its sessions is
 * used. The first event of a session makes its copy, further events extend it, `remove` removes it. A note of the removal stays until the
 * program inside has removed its log, too; events that still arrive are ignored. The copies go with the folder of the sandbox. Rules S1 and S6:
 * a line is durable before a follower sees it, and never changes. What does not fit is refused as `corrupt` (S8), and nothing of it is kept.
 */
import type { Sandbox } from '../sandbox/model.ts';
import type { SessionEvent } from './model/session.ts';
import type { SessionFold } from './model/session-fold.ts';

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

/** The sessions of all sandboxes, as the daemon and other nouns use them. */
export interface Sessions {
  /** Connects to running sandboxes that have sessions, to catch up with what happened while no daemon ran. */
  start(): void;
  /** Ends the connections. Sessions and their agents continue inside. */
  dispose(): Promise<void>;
  /** Whether the sandbox ever had a session. */
  has(sandbox: Sandbox): boolean;
  of(sandbox: Sandbox): Promise<{ readonly copies: Pick<SessionCopies, 'list'> }>;
}

/** The only session of a sandbox that has a turn; null: none has one, or several have. */
export async function activeSession(sessions: Pick<Sessions, 'has' | 'of'>, sandbox: Sandbox): Promise<string | null> {
  if (!sessions.has(sandbox)) return null;
  const active = (await sessions.of(sandbox)).copies.list().filter(({ fold }) => fold.turns.length > 0);
  return active.length === 1 ? active[0]!.id : null;
}
