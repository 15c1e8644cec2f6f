/** A connection from inside that a credential is for, as whoever answers it gets it. */
import type { Socket } from 'node:net';
import { type Endpoint, endpointText, parseHost } from '../../model/host.ts';
import { NetworkPolicy } from '../../model/network.ts';
import type { Refused } from '../lookup.ts';
import type { Call, Credential } from '../network.ts';
import type { Attached } from './attached.ts';
import type { Attempt } from './attempt.ts';
import { counted } from './relay.ts';

/** The credential whose host that is. */
export function interceptedBy({ attachment }: Attached, asked: Endpoint): Credential | null {
  return attachment.credentials.find((one) => endpointText(placeOf(one)) === endpointText(asked)) ?? null;
}

export function credentialCall(
  attached: Attached,
  credential: Credential,
  socket: Socket,
  asked: Endpoint | null,
): Call {
  const current = () => attached.attachment.credentials.find((one) => isSame(one, credential)) ?? credential;
  return {
    get target() {
      return current();
    },
    get credential() {
      return current();
    },
    socket,
    asked,
    dial: () => dialFor(attached, credential, socket),
    counted: limited(attached),
  };
}

function isSame(one: Credential, other: Credential): boolean {
  return one.name === other.name && endpointText(placeOf(one)) === endpointText(placeOf(other));
}

function placeOf({ host, port }: Credential): Endpoint {
  return { host: parseHost(host), port };
}

/** By a rule of the credential's own, for as long as the sandbox has it. */
async function dialFor(attached: Attached, credential: Credential, socket: Socket): Promise<Socket> {
  const target = placeOf(credential);
  const rule = endpointText(target);
  const isGiven = () => attached.attachment.credentials.some((one) => isSame(one, credential));
  const rules = () => new NetworkPolicy(isGiven() ? [rule, ...attached.attachment.allow] : []);
  const attempt = attached.attempt('credential');
  try {
    const upstream = await attached.dial(attempt, target, rules);
    recordWhole(attempt, socket, upstream);
    return upstream;
  } catch (error) {
    attempt.refuse(rule, error as Refused);
    throw error;
  }
}

/** By the limits alone: the record has what passes between us and the other end, once. */
export function limited({ meter }: Attached): Call['counted'] {
  const passing = { meter, onBytes: () => {} };
  return (way) => counted(passing, way);
}

/** For as long as it is open, and with all that passed. */
export function recordWhole(attempt: Attempt, client: Socket, upstream: Socket): void {
  attempt.holds(client, upstream);
  upstream.once('close', () => {
    attempt.count(upstream.bytesWritten, 'sent');
    attempt.count(upstream.bytesRead, 'received');
    attempt.end();
  });
}
