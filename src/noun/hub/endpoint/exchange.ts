/** One HTTP request for MCP and its answer. */
import type { ClientIdentity } from '../token/authentication.ts';

export interface Exchange {
  /** Its signal is aborted when the client goes away. */
  readonly request: Request;
  readonly identity: ClientIdentity;
  /** The parsed body of a POST. */
  readonly body: unknown;
  /** Settles when the answer is sent or its client is gone. */
  readonly ended: Promise<void>;
  /** Closes the connection. */
  drop(): void;
}

/** The identity in the form in which the SDK passes it, with `extra`, to the server that it creates for the request. */
export function authInfoOf({ caller }: ClientIdentity, extra: Record<string, unknown> = {}) {
  return { token: '', clientId: caller.name, scopes: [...caller.groups], extra };
}

export function refusal(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}
