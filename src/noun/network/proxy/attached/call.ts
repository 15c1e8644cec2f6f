/** Connections from inside to the host of a credential, as calls for the forwarder. */
import type { Socket } from 'node:net';
import { type Endpoint, endpointText, parseHost } from '../../../../model/host.ts';
import type { CredentialCall, CredentialKey } from '../../credential/credential.ts';
import type { RefusedAttempt } from '../../lookup.ts';
import { NetworkPolicy } from '../../model/network.ts';
import { counted } from '../relay/relay.ts';
import type { Attached } from './attached.ts';
import type { Attempt } from './attempt.ts';

/** The credential for that host if it is reached over TLS, which a client inside begins. */
export function interceptedBy({ attachment }: Attached, endpoint: Endpoint): CredentialKey | null {
  const isMeant = (one: CredentialKey) =>
    one.scheme === undefined && endpointText(endpointOf(one)) === endpointText(endpoint);
  return attachment.credentials.find(isMeant) ?? null;
}

export function credentialCall(
  attached: Attached,
  credential: CredentialKey,
  socket: Socket,
  endpoint: Endpoint | null,
): CredentialCall {
  const current = () => attached.attachment.credentials.find((one) => isSame(one, credential)) ?? credential;
  return {
    get target() {
      return current();
    },
    get credential() {
      return current();
    },
    socket,
    endpoint,
    dial: () => dialFor(attached, credential, socket),
    counted: limited(attached),
  };
}

function isSame(one: CredentialKey, other: CredentialKey): boolean {
  return one.name === other.name && endpointText(endpointOf(one)) === endpointText(endpointOf(other));
}

function endpointOf({ host, port }: CredentialKey): Endpoint {
  return { host: parseHost(host), port };
}

/** Connects to the host of the credential; a rule allows it as long as the sandbox has the credential. */
async function dialFor(attached: Attached, credential: CredentialKey, socket: Socket): Promise<Socket> {
  const target = endpointOf(credential);
  const rule = endpointText(target);
  const isGranted = () => attached.attachment.credentials.some((one) => isSame(one, credential));
  const rules = () => new NetworkPolicy(isGranted() ? [rule, ...attached.attachment.allow] : []);
  const attempt = attached.attempt('credential');
  try {
    const upstream = await attached.dial(attempt, target, rules);
    recordWhole(attempt, socket, upstream);
    return upstream;
  } catch (error) {
    attempt.refuse(rule, error as RefusedAttempt);
    throw error;
  }
}

/** Counts bytes against the limits only: the record counts the bytes of the upstream connection. */
export function limited({ meter }: Attached): CredentialCall['counted'] {
  const passing = { meter, onBytes: () => {} };
  return (way) => counted(passing, way);
}

/** Ends the attempt when the connection closes, and records all bytes that passed. */
export function recordWhole(attempt: Attempt, client: Socket, upstream: Socket): void {
  attempt.holds(client, upstream);
  upstream.once('close', () => {
    attempt.count(upstream.bytesWritten, 'sent');
    attempt.count(upstream.bytesRead, 'received');
    attempt.end();
  });
}
