/**
 * The adapter: what runs inside a sandbox to have an agent work on a task file.
 *
 * It speaks the messages of `model/swarm-message.ts` on its stdin and stdout, and logs on stderr. Its life:
 *
 *   start → (task-request) → clone or find the repository → stories, one after another or side by side → completion → exit
 *
 * Promises:
 * - All it reads is checked; what is wrong with it is said as an `error`, and nothing else happens.
 * - A story is completed when its one commit is on the branch, and the record in `/.data` says so; then it is told. Whatever
 *   is killed in between, the next start goes on from the record and the branch: no story is done twice, none is lost.
 * - A closed stdin or a lost stdout ends nothing: the work goes on, and the record has its outcome. Whoever runs the
 *   adapter again in the same sandbox is connected to the one that works, and is told how everything stands. The same
 *   request said again, on any connection, is answered the same way.
 * - SIGTERM: the agents get SIGTERM, after 5 s SIGKILL; then `completion{stopped}` and exit code 130.
 * - The processes an agent leaves behind end with its story.
 *
 * Exit codes: 0 completed, 1 failed, 2 not understood, 130 stopped.
 *
 * Each story is worked on in a checkout of its own, never in the workspace. One after the other they are put on top of the
 * branch; one that does not fit there any more is done again from the new tip. The agent's own commits become one.
 */

import { type OwnReason, ownReasons, type SwarmErrorCode } from '../model/swarm-message.ts';
import type { Story } from '../model/task.ts';

/** What an agent is given for one story. Nothing of it ever passes through a shell. */
export interface Assignment {
  readonly story: Story;
  /** The story in words. */
  readonly prompt: string;
  /** The checkout to work in. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Reporter {
  /** Something the agent said or did, in lines. */
  said(...lines: readonly string[]): void;
  /** It is alive, with nothing to tell. */
  stirred(): void;
}

/** How an agent's work on a story ended. */
export interface Ending {
  readonly status: 'completed' | 'failed';
  /** Its last words. */
  readonly summary: string;
  /** What went wrong, where it was more than the agent giving up. */
  readonly code: SwarmErrorCode | null;
}

/** One kind of agent. Resolves when none of its processes is left, soon after the signal. */
export type Work = (assignment: Assignment, reporter: Reporter, signal: AbortSignal) => Promise<Ending>;

/** Something that ends the work on a task file, or on one story of it. Without a code it is the agent that gave up. */
export class Setback extends Error {
  override readonly name = 'Setback';
  readonly code: SwarmErrorCode | null;

  constructor(code: SwarmErrorCode | null, message: string) {
    super(message);
    this.code = code;
  }

  /** For what the protocol has no code of its own. */
  static of(reason: OwnReason, message: string): Setback {
    return new Setback(ownReasons[reason], `${reason}: ${message}`);
  }
}
