/**
 * `carrel-memory` and `carrel-memory-bank`: MCP servers inside a sandbox, over stdin and stdout, for its agents.
 *
 * The daemon has the notes, the files and the list of tools; these programs hold nothing and pass calls on, over a port of
 * the sandbox's loopback. They carry no token: the proxy knows the sandbox by its connection (decision 81). They end
 * when their stdin does, after the open calls have been answered.
 *
 * Promises:
 * - Calls run at the same time. A refusal of the daemon is a result with `isError`, whose text has code, message and hint.
 * - While no daemon answers, a call is tried again for some seconds. One that the daemon may have handled already is
 *   tried again only if a repetition does no harm (`isRepeatable`).
 */
import type { Toolset } from '../../../inside/tool-server.ts';

export interface DaemonRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  /** Whether it may be sent again after a lost connection, when the daemon may have handled it already. */
  readonly isRepeatable: boolean;
}

/** The tools of one of these servers. */
export interface DaemonTools extends Pick<Toolset, 'name' | 'instructions'> {
  /** The path of the tools at the daemon. */
  readonly path: string;
  /** Whether a call that may have reached the daemon can be sent again. */
  isRepeatable(tool: string): boolean;
  /** Converts the input before it is sent. */
  input?(tool: string, input: unknown): unknown;
  /** Converts the daemon's answer to a result of MCP. */
  result(answer: object): object;
}
