/**
 * The hub: tools over every project of a user, for MCP clients.
 *
 * A tool is data: a name, a group, schemas of what it takes and answers, and what it does. `mcp.ts` offers tools to MCP
 * clients; `carrel hub call` calls one directly. Both check the input against the schema first, so a tool sees valid input only.
 *
 * Promises of a tool:
 * - It names the project it works on in its input, and touches no other one. Projects that the caller may not name do not exist for it.
 * - With `dryRun` a tool that changes something changes nothing and answers what it would do.
 * - A refusal is a Fault. Nothing is half done.
 * - It ends when `signal` is aborted.
 */
import type { z } from 'zod';
import { defaultGroups, type ProjectGrant, type ToolGroup } from '../model/hub-token.ts';

/** On whose behalf tools are called. Checked on every call, whatever the connection offered before. */
export interface Caller {
  /** The id of a token, or one for a sandbox, for the audit log and for limits. */
  readonly name: string;
  /** The name of the sandbox that calls. */
  readonly sandbox?: string;
  readonly projects: ProjectGrant;
  readonly groups: readonly ToolGroup[];
}

/** A connection to the daemon's socket: the user, who owns all of it. */
export const socketCaller: Caller = { name: 'socket', projects: '*', groups: defaultGroups };

export interface ToolCall {
  readonly signal: AbortSignal;
  /** Progress of a call that takes long, for a person. */
  report(message: string): void;
  /** Asks the person at the client; null if the client cannot. */
  readonly ask: null | ((question: Question) => Promise<Consent>);
}

export interface Question {
  readonly message: string;
  /** A digest of everything that is asked about: an answer counts for that alone. */
  readonly about: string;
  /** A box that the person has to tick besides; null: accepting is enough. */
  readonly tick: string | null;
}

export type Consent = 'accepted' | 'declined' | 'dismissed';

export interface Tool<S = never> {
  readonly name: string;
  readonly group: ToolGroup;
  /** For the model: short, because every client pays for it. */
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  /** Whether it changes something: files, or by running a command anything in the sandbox. */
  readonly changes: boolean;
  /** Whether it may remove or overwrite something. */
  readonly destroys: boolean;
  run(input: never, scope: S, call: ToolCall): Promise<object>;
}
