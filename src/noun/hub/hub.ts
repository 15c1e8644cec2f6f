/**
 * The hub: tools over every project of a user, for MCP clients.
 *
 * A tool is data: a name, a group, schemas of its input and output, and a function. `mcp/mcp.ts` offers tools to MCP
 * clients; `carrel hub call` calls one directly. Both check the input against the schema first, so a tool sees valid
 * input only.
 *
 * Callers arrive in four ways, and get the same tools from `app/user-hub.ts`:
 * - the command line, by a route;
 * - `carrel hub serve`, by lines on stdin and stdout (`streams.ts`);
 * - clients at the port (decision 50), by Streamable HTTP (`endpoint.ts`; `mcp-sessions.ts` for older revisions) or WebSocket
 *   (`mcp-sockets.ts`). They have a token (`app/hub-tokens.ts`, decision 51); when it is revoked, running calls end (`revocation.ts`);
 * - sandboxes with the service `hub`, which the proxy names (`app/sandbox-callers.ts`, decision 119).
 * Tools for environments and swarms call routes inside the daemon; before an apply, `question.ts` asks the person at the
 * client (decision 55). Decision 57 lists what is cached between calls.
 *
 * Promises of a tool:
 * - It names the project it works on in its input, and touches no other one. Projects that the caller may not name do not exist for it.
 * - With `dryRun` a tool changes nothing and returns what it would do.
 * - It refuses with a Fault, and leaves nothing half done.
 * - It ends when `signal` is aborted.
 */
import type { z } from 'zod';
import { defaultGroups, type ProjectGrant, type ToolGroup } from './model/token.ts';

/**
 * The caller on whose behalf a tool runs. It is checked on every call, whatever tools the connection offered before.
 */
export interface HubCaller {
  /** The id of a token, or one for a sandbox, for the audit log and for limits. */
  readonly name: string;
  /** The name of the sandbox that calls. */
  readonly sandbox?: string;
  readonly projects: ProjectGrant;
  readonly groups: readonly ToolGroup[];
}

/** The caller at the daemon's socket: the user, who owns all the projects. */
export const socketCaller: HubCaller = { name: 'socket', projects: '*', groups: defaultGroups };

export interface ToolCall {
  readonly signal: AbortSignal;
  /** Reports the progress of a long call, for a person. */
  report(message: string): void;
  /** Asks the person at the client; null: the client cannot ask. */
  readonly ask: null | ((question: ClientQuestion) => Promise<Consent>);
}

export interface ClientQuestion {
  readonly message: string;
  /** A digest of everything that the question is about: an answer is valid only for the same digest. */
  readonly about: string;
  /** The label of a box that the person must tick as well; null: accepting is enough. */
  readonly tick: string | null;
}

export type Consent = 'accepted' | 'declined' | 'dismissed';

export interface Tool<S = never> {
  readonly name: string;
  readonly group: ToolGroup;
  /** For the model. Short, because it costs every client tokens. */
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  /** Whether the tool changes something: files, or, by running a command, anything in the sandbox. */
  readonly changes: boolean;
  /** Whether the tool may remove or overwrite something. */
  readonly destroys: boolean;
  run(input: never, scope: S, call: ToolCall): Promise<object>;
}
