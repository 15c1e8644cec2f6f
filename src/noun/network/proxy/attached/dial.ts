/** Connects to one of the checked addresses, and to no other. */
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import type { Endpoint } from '../../../../model/host.ts';
import { type Address, RefusedAttempt } from '../../lookup.ts';
import { withReusedBuffer } from '../relay/reused-buffer.ts';

/** The wait for one address before the next is tried as well. */
const nextMs = 1500;

export function dialOne(
  endpoint: Endpoint,
  addresses: readonly Address[],
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const options: NetConnectOpts = {
      host: endpoint.host.text,
      port: endpoint.port,
      allowHalfOpen: true,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      autoSelectFamily: addresses.length > 1,
      autoSelectFamilyAttemptTimeout: nextMs,
      // An address in `host` is dialled as it is; a name resolves to its checked addresses only.
      lookup: (_name, options, answer) => {
        const found = addresses.map(({ text, family }) => ({ address: text, family }));
        if (options.all) (answer as unknown as (error: null, all: typeof found) => void)(null, found);
        else answer(null, found[0]!.address, found[0]!.family);
      },
    };
    const socket = withReusedBuffer((onread) => connect({ ...options, onread }));
    const fail = (refused: RefusedAttempt) => {
      settle();
      socket.destroy();
      reject(refused);
    };
    const timer = setTimeout(() => fail(new RefusedAttempt('timeout', 'it does not answer')), timeoutMs);
    const abort = () => fail(new RefusedAttempt('not_allowed', 'it is not allowed any more'));
    const failed = (error: NodeJS.ErrnoException) =>
      fail(new RefusedAttempt('unreachable', `it cannot be reached (${why(error)})`));
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      socket.off('error', failed);
    };
    signal.addEventListener('abort', abort);
    socket.on('error', failed);
    socket.once('connect', () => {
      settle();
      socket.on('error', () => socket.destroy());
      resolve(socket);
    });
  });
}

/** The cause of a failure. If several addresses failed, each has an error. */
function why(error: NodeJS.ErrnoException): string {
  return error.code ?? (error as AggregateError).errors?.[0]?.code ?? error.message;
}
