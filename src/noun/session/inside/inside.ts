/**
 * The agent API: the program in a sandbox that drives its agents.
 *
 * Life cycle: the daemon runs `carrel-agent-api start` in the sandbox, with settings on stdin. That starts `serve` in
 * the background, unless one serves already (it then gets the settings), waits until it listens, prints `{"port":3002}`
 * and ends. `serve` belongs to the sandbox, not to the daemon: it ends with the sandbox. It reads all logs, ends
 * unfinished turns of an earlier one with `interrupted`, continues with prompts that wait, and listens on
 * 127.0.0.1:3002. Agents are started when a session needs them, one process per session, and ended after some idle
 * time; their process group ends with them and with `serve`.
 *
 * `serve` starts and configures the program, `http` answers clients, `sandbox-sessions.ts` has the sessions and `live-session.ts` one of them,
 * `log` what is on disk, `driver` holds the agent's process, `acp` communicates with it.
 *
 * Promises: rules S1 to S5, S9, S10, S12, S14 to S16 of `docs/formats/session.md`. Every method that changes something
 * resolves when its event is on disk. Faults: `not_found` (no such session or question), `conflict` (busy, answered
 * already, closed), `exhausted` (a limit), `invalid`.
 */

import type { ContentBlock, SessionEvent } from '../model/session.ts';
import type { SessionFold } from '../model/session-fold.ts';

export interface NewSession {
  readonly sessionId?: string | undefined;
  readonly agent?: string | undefined;
  readonly title?: string | undefined;
  readonly mode?: string | undefined;
  readonly model?: string | undefined;
}

export interface NewPrompt {
  readonly turnId?: string | undefined;
  readonly content: readonly ContentBlock[];
  readonly queue?: boolean | undefined;
}

export interface Answered {
  readonly optionId?: string | undefined;
  readonly content?: Readonly<Record<string, unknown>> | undefined;
  readonly cancel?: boolean | undefined;
}

/** One line of the log, as it is on disk, without the newline. */
export interface LoggedEvent {
  readonly event: SessionEvent;
  readonly line: string;
}

/** One session, as HTTP sees it. */
export interface Session {
  readonly id: string;
  readonly fold: SessionFold;
  /** A repeated call with a known `turnId` gets the same answer. */
  prompt(prompt: NewPrompt): Promise<{ readonly turnId: string; readonly seq: number }>;
  /** Ends the running turn; with none it does nothing. Resolves when the turn has ended. */
  cancel(): Promise<void>;
  answer(pendingId: string, answered: Answered): Promise<void>;
  setMode(mode: string): Promise<void>;
  setModel(model: string): Promise<void>;
  rename(title: string): Promise<void>;
  close(): Promise<void>;
  /**
   * Events after `seq`, from the log and then as they come, until the signal or the removal of the session. An event is
   * read only when it is taken, so a slow follower costs a position, not a growing queue.
   */
  follow(after: number, signal: AbortSignal): AsyncIterable<LoggedEvent>;
  /** SHA-256 over all lines up to `seq`: `sha256(digest(seq - 1) + line)` as hex, '' for 0. */
  digest(seq: number): Promise<string>;
}

export interface AgentSessions {
  list(): readonly Session[];
  find(id: string): Session;
  create(session: NewSession): Promise<Session>;
  fork(
    id: string,
    request: { readonly sessionId?: string | undefined; readonly title?: string | undefined },
  ): Promise<Session>;
  remove(id: string): Promise<void>;
  /** Replaces or creates the log of a session with the host's copy. */
  restore(id: string, lines: AsyncIterable<string>): Promise<Session>;
  /** Events of all sessions, later ones included. `after` is by id; other sessions start at their first event. */
  followAll(after: Readonly<Record<string, number>>, signal: AbortSignal): AsyncIterable<LoggedEvent>;
}
