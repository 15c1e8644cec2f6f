/**
 * Port 3002 of a sandbox, forwarded to a port of the host. An agent can end the agent API and listen there itself, so
 * the proxy sends the hash of a client's token instead of the token. The agent API accepts the hash only inside, where
 * the agent is already; at the port of the host a hash is hashed again.
 */
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { type Headers, valuesOf } from '../../../../lib/wire/http-headers.ts';
import { agentApiPort } from '../../../session/model/session.ts';
import type { CredentialCall } from '../../credential/credential.ts';
import { requestHeaders } from '../../credential/headers.ts';
import type { Meter } from '../limit/meter.ts';
import { counted } from '../relay/relay.ts';

const header = 'authorization';

export function agentApiCall(client: Socket, meter: Meter, dial: () => Promise<Socket>): CredentialCall {
  const host = '127.0.0.1';
  return {
    target: { name: 'the agent API', host, port: agentApiPort, header, value: '', drops: [] },
    ...{ credential: null, socket: client, endpoint: null, dial },
    headers: withHashedToken,
    counted: (way) => counted({ meter, onBytes: () => {} }, way),
  };
}

/** The headers with the host that the client named: by it the agent API refuses pages of other sites. */
function withHashedToken(received: Headers): string[] {
  const host = valuesOf(received, 'host').join();
  return requestHeaders(received, { host, header, value: hashed(valuesOf(received, header).join()), drops: [] });
}

/** A value that is not a bearer token is left out: it may be a token in a wrong form. */
function hashed(authorization: string): string {
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  return token === undefined ? 'Bearer' : `Bearer ${createHash('sha256').update(token).digest('hex')}`;
}
