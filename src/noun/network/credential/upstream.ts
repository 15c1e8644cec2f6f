/**
 * Connections from a call to its target: one at a time, closed with the call, and for a credential with verified TLS,
 * unless its host has no TLS.
 */
import { Agent, type AgentOptions } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect, createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { Fault } from '../../../model/fault.ts';
import type { CredentialCall, CredentialKey, CredentialTarget } from './credential.ts';

export const handshakeMs = 15_000;
/** Shorter than servers keep idle connections, so that no request is sent on one that is closing. */
const idleMs = 4000;

export class UpstreamAgent extends Agent {
  readonly #call: CredentialCall;

  constructor(call: CredentialCall) {
    super({ keepAlive: true, maxSockets: 1, timeout: idleMs });
    this.#call = call;
    call.socket.once('close', () => this.destroy());
  }

  override createConnection(_: AgentOptions, done?: (error: Error | null, stream: Duplex) => void): undefined {
    openUpstream(this.#call).then(
      (stream) => done?.(null, stream),
      (error: Error) => done?.(error, undefined as never),
    );
  }
}

export async function openUpstream(call: CredentialCall): Promise<Duplex> {
  const { credential, target } = call;
  const socket = (await call.dial().catch((error: Error) => Promise.reject(dialFault(target, error)))).setNoDelay();
  return credential === null || credential.scheme === 'http' ? socket : openTls(credential, socket);
}

function openTls(credential: CredentialKey, socket: Socket): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const stream = connect({ ...connectionOptions(credential), socket });
    const late = setTimeout(() => stream.destroy(new Error('the handshake takes too long')), handshakeMs);
    stream.once('close', () => clearTimeout(late));
    stream.once('secureConnect', () => {
      clearTimeout(late);
      stream.off('error', refuse);
      resolve(stream);
    });
    const refuse = (error: NodeJS.ErrnoException) => {
      socket.destroy();
      reject(tlsFault(credential, error));
    };
    stream.once('error', refuse);
  });
}

function connectionOptions({ host, roots }: CredentialKey): ConnectionOptions {
  return {
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    secureContext: trusting(roots),
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
  };
}

const contexts = new Map<string, SecureContext>();

/** Cached: loading the authorities takes a while. */
function trusting(roots: readonly string[]): SecureContext {
  const key = roots.join('\n');
  const known = contexts.get(key);
  if (known) return known;
  contexts.clear();
  const made = createSecureContext({ minVersion: 'TLSv1.2', ca: [...rootCertificates, ...roots] });
  contexts.set(key, made);
  return made;
}

/** A host that refuses, is unknown or cannot be reached is `unavailable`, not an internal error. */
function dialFault({ name, host }: CredentialTarget, error: Error): Fault {
  return new Fault('unavailable', `no connection to ${host} for ${name}: ${error.message}`, { cause: error });
}

/** Error codes for certificates of an unknown authority. */
const unknownIssuer = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

function tlsFault({ host, port }: CredentialKey, error: NodeJS.ErrnoException): Fault {
  const code = error.code ?? error.message;
  const hint = unknownIssuer.has(code)
    ? 'If it is yours, add the file with the certificate of its authority to `authorities:` in config.yaml.'
    : code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER'
      ? `If it speaks HTTP without TLS: carrel credential add NAME --host http://${host}:${port} …`
      : undefined;
  return new Fault('unavailable', `no trusted connection to ${host}: ${code}`, {
    cause: error,
    ...(hint === undefined ? {} : { hint }),
  });
}
