/**
 * Services of the host at fixed ports inside. The proxy adds the caller: in a header of each request, or in a line before
 * the client's first byte.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { parseEndpoint } from '../../../../model/host.ts';
import type { CredentialCall, Forwarder } from '../../credential/credential.ts';
import { RefusedAttempt } from '../../lookup.ts';
import { NetworkPolicy } from '../../model/network.ts';
import type { DeclaredService } from '../../model/service.ts';
import { callerHeader } from '../../model/service.ts';
import type { SandboxCaller } from '../../network.ts';
import type { Attached } from '../attached/attached.ts';
import type { Attempt } from '../attached/attempt.ts';
import { limited, recordWhole } from '../attached/call.ts';

export function takeService(attached: Attached, service: DeclaredService, client: Socket, forwarder: Forwarder): void {
  attached.admit(client);
  if (service.identity === 'headers') return void forwarder.answer(serviceCall(attached, service, client));
  try {
    const attempt = begin(attached, service);
    const socket = dial(service);
    socket.once('error', (error) => {
      attempt.end(why(error));
      client.destroy();
    });
    socket.write(`${callerText(attached)}\n`);
    attached.connect(attempt, client, socket);
  } catch {
    // An attempt that cannot be recorded must not go on.
    client.destroy();
  }
}

/** Records an attempt, which is allowed as long as the service is granted. */
function begin(attached: Attached, { name, port, to }: DeclaredService): Attempt {
  const isGranted = () => attached.attachment.services.some((one) => one.name === name && one.to === to);
  const attempt = attached.attempt('service', () => new NetworkPolicy(isGranted() ? [`127.0.0.1:${port}`] : []));
  try {
    if (!isGranted()) throw new RefusedAttempt('not_allowed', 'it is not granted any more');
    attempt.allow({ host: { kind: 'address', text: '127.0.0.1', family: 4 }, port }, `service ${name}`, to);
    return attempt;
  } catch (error) {
    attempt.end();
    throw error;
  }
}

function dial({ to }: DeclaredService): Socket {
  if (to.startsWith('/')) return connect({ path: to, allowHalfOpen: true });
  const { host, port } = parseEndpoint(to, 0);
  return connect({ host: host.text, port, allowHalfOpen: true, noDelay: true });
}

/** The reason without the address on the host, which sandboxes must not learn. */
function why(error: unknown): string {
  return `the service does not answer (${(error as NodeJS.ErrnoException).code})`;
}

/** The caller as JSON in ASCII only, as headers require. */
function callerText({ attachment: { id, name, user } }: Attached): string {
  const caller: SandboxCaller = { id, name, user };
  return JSON.stringify(caller).replace(
    /[^\x20-\x7e]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function serviceCall(attached: Attached, service: DeclaredService, client: Socket): CredentialCall {
  return {
    target: {
      name: service.name,
      host: '127.0.0.1',
      port: service.port,
      header: callerHeader,
      value: callerText(attached),
      drops: [],
    },
    credential: null,
    socket: client,
    endpoint: null,
    dial: () => dialFor(attached, service, client),
    counted: limited(attached),
  };
}

async function dialFor(attached: Attached, service: DeclaredService, client: Socket): Promise<Socket> {
  const attempt = begin(attached, service);
  const socket = dial(service);
  recordWhole(attempt, client, socket);
  await once(socket, 'connect').catch((error: unknown) => {
    attempt.end(why(error));
    throw new Error(why(error));
  });
  return socket;
}
