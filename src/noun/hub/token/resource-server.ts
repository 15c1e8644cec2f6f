/**
 * The hub as a resource server of OAuth 2 (RFC 6750, RFC 9728): where it takes a token, and how it refuses. Tokens are made over the socket of
 * the daemon, so the metadata name no authorization server.
 */
import { Fault } from '../../../model/fault.ts';
import { defaultGroups, type ToolGroup, toolGroups } from '../model/token.ts';
import type { AuthenticationRequest } from './authentication.ts';

/** The path of the endpoint that the metadata describe. */
const endpoint = '/mcp';
const metadataPath = '/.well-known/oauth-protected-resource';

/** URL parameters from which other servers take a token, and texts in the shape of a JWT. */
const inUrl = /[?&;](access_token|token|authorization|bearer|api_?key)=|[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/i;

/** The token of a request. One in the URL is refused even if the header has a valid one: URLs end up in logs and histories. */
export function presentedToken({ authorization, url }: AuthenticationRequest): string {
  if (inUrl.test(decoded(url))) {
    throw new Fault('unauthenticated', 'a token in a URL is refused', {
      hint: 'Send it as header, Authorization: Bearer TOKEN, and revoke this one: carrel hub token rm ID',
      data: { error: 'invalid_request' },
    });
  }
  const token = /^Bearer ([\w.~+/=-]+)$/i.exec(authorization ?? '')?.[1];
  if (token !== undefined) return token;
  throw new Fault('unauthenticated', 'a token is needed', {
    hint: 'Make one with carrel hub token --project ID, and send it as header, Authorization: Bearer TOKEN.',
  });
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}

export function missingScope(group: ToolGroup, tool: string, granted: readonly ToolGroup[]): Fault {
  return new Fault('denied', `the token does not allow ${tool}: it names no group ${group}`, {
    hint: `Make one that does: carrel hub token --tools ${[...granted, group].join(',')} --project ID`,
    data: { error: 'insufficient_scope', scope: [...granted, group].join(' ') },
  });
}

/** The value of WWW-Authenticate; null: the refusal is not about the token. */
export function challengeOf({ code, data }: Fault, origin: string): string | null {
  const { error, scope = defaultGroups.join(' ') } = (data ?? {}) as { error?: string; scope?: string };
  if (code !== 'unauthenticated' && error !== 'insufficient_scope') return null;
  const parts = { error, scope, resource_metadata: `${origin}${metadataPath}${endpoint}` };
  const stated = Object.entries(parts).filter(([, value]) => value !== undefined);
  return `Bearer ${stated.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
}

/** The metadata of RFC 9728, at its root path and at that path followed by the path of the endpoint. */
export function metadata(path: string, origin: string): object | null {
  if (path !== metadataPath && path !== `${metadataPath}${endpoint}`) return null;
  return {
    resource: `${origin}${endpoint}`,
    resource_name: 'Carrel hub',
    scopes_supported: toolGroups,
    bearer_methods_supported: ['header'],
  };
}
