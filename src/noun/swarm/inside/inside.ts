/**
 * The adapter: the program in a sandbox that drives an agent through the stories of a task file.
 *
 * It reads and writes the messages of `noun/swarm/model/message.ts` on stdin and stdout, and logs on stderr. Its life cycle:
 *
 *   start → (task-request) → clone or find the repository → stories, one after another or side by side → completion → exit
 *
 * Promises:
 * - All input is checked; invalid input gets an `error` message and has no other effect.
 * - A story is completed when its one commit is on the branch and the record in `/.data` has it; then the message is
 *   sent. After a kill at any point the next start continues from the record and the branch: no story is lost or done
 *   twice.
 * - After the request, a closed stdin or a lost stdout does not end the work; the record gets its outcome. A second run
 *   of the adapter in the same sandbox connects to the running one and gets the whole state, as a repeated request on
 *   any connection does.
 * - SIGTERM: the agents get SIGTERM, after 5 s SIGKILL; then `completion{stopped}` and exit code 130.
 * - The processes an agent leaves behind end with its story.
 *
 * `run.ts` is one run of the program, `adapter.ts` the adapter itself, `begin.ts` decides where it starts, `broadcast.ts` sends its
 * messages, `story` runs the stories, `checkout` has their checkouts and the branch, `kind` the kinds of agents.
 *
 * Exit codes: 0 completed, 1 failed, 2 invalid input, 130 stopped.
 *
 * Each story has a checkout of its own, never the workspace. Finished stories are put on top of the branch one after
 * the other; one that conflicts there is done again from the new tip. The agent's own commits become one.
 */

import type { SwarmErrorCode } from '../model/message.ts';
import type { Story } from '../model/task.ts';

/** The input of an agent for one story. None of it passes through a shell. */
export interface Assignment {
  readonly story: Story;
  /** The story as text. */
  readonly prompt: string;
  /** The checkout to work in. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Reporter {
  /** Output of the agent, in lines. */
  output(...lines: readonly string[]): void;
  /** The agent is active, with or without output. */
  active(): void;
}

/** How an agent's work on a story ended. */
export interface AgentResult {
  readonly status: 'completed' | 'failed';
  /** Its last output. */
  readonly summary: string;
  /** Null: there is no error, or the agent itself gave up. */
  readonly code: SwarmErrorCode | null;
}

/** Runs one kind of agent on a story. Resolves when the agent's processes have ended; the signal ends them. */
export type RunAgent = (assignment: Assignment, reporter: Reporter, signal: AbortSignal) => Promise<AgentResult>;
