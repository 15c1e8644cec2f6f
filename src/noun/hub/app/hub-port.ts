/** What a port of the daemon serves of the hub: MCP with the tools of each caller, spokes elsewhere, and the health. */

import { packageVersion } from '../../../lib/file/package.ts';
import { Rate } from '../../../lib/flow/rate.ts';
import { ClientTable } from '../endpoint/client-table.ts';
import { McpEndpoint } from '../endpoint/endpoint.ts';
import { type Exchange, refusal } from '../endpoint/exchange.ts';
import { McpSockets, type SocketParts } from '../endpoint/mcp-sockets.ts';
import type { McpParts } from '../mcp/mcp.ts';
import { spokeUrlPath } from '../model/spoke.ts';
import { type SpokeSocketParts, SpokeSockets } from '../spoke/spoke-sockets.ts';
import type { Authentication, ClientIdentity } from '../token/authentication.ts';

export const mcpPath = '/mcp';
/** Limits of sessions and WebSockets: for one token, and in total. */
const clientLimits = { perCaller: 100, total: 500, idleMs: 30 * 60_000 };
const pingMs = 30_000;
/** A burst may have this many times the requests of one second. */
const burst = 5;
const maxBodyBytes = 8 * 1024 * 1024;

export interface HubPortParts {
  readonly authentication: Authentication;
  readonly requestsPerSecond: number;
  partsOf(identity: ClientIdentity): McpParts;
  /** Spokes in other containers or machines; left out: none may connect. */
  readonly spokes?: Omit<SpokeSocketParts, 'pingMs'>;
}

export function hubPort({ authentication, requestsPerSecond, partsOf, spokes: elsewhere }: HubPortParts) {
  const rate = new Rate({ perSecond: requestsPerSecond, burst: requestsPerSecond * burst });
  const clients = new ClientTable(clientLimits);
  const spokes = elsewhere && new SpokeSockets({ pingMs, ...elsewhere });
  authentication.onRevoked = () => {
    clients.sweep();
    spokes?.sweep();
  };
  const atSpokes = spokes && { upgrade: spokes.accept.bind(spokes), close: () => spokes.close() };
  return {
    ...{ authentication, rate },
    documents: { '/health': healthSince(Date.now()) },
    handlers: {
      [mcpPath]: mcpHandler({ clients, rate, maxMessageBytes: maxBodyBytes, pingMs, partsOf }),
      ...(atSpokes && { [spokeUrlPath]: atSpokes }),
    },
    hint: `MCP is at ${mcpPath}.`,
  };
}

function healthSince(startedAtMs: number): () => object {
  return () => ({
    ...{ status: 'ok', version: packageVersion() },
    uptimeSeconds: Math.round((Date.now() - startedAtMs) / 1000),
  });
}

function mcpHandler(parts: SocketParts) {
  const endpoint = new McpEndpoint(parts.clients, parts.partsOf);
  const sockets = new McpSockets(parts);
  return {
    maxBodyBytes,
    answer: async ({ text, ...exchange }: Omit<Exchange, 'body'> & { readonly text: string | undefined }) => {
      const read = jsonIn(text);
      if (read === null) return refusal(400, -32700, 'Parse error: the body is not JSON');
      return endpoint.answer({ ...exchange, body: read.body });
    },
    upgrade: sockets.accept.bind(sockets),
    close: async () => {
      parts.clients.close();
      await endpoint.close();
    },
  };
}

/** Null: the text is not JSON. */
function jsonIn(text: string | undefined): { readonly body: unknown } | null {
  try {
    return { body: text === undefined ? undefined : JSON.parse(text) };
  } catch {
    return null;
  }
}
