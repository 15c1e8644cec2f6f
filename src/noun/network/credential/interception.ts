/** The server side of TLS for a credential's host that a sandbox calls by its own name. */
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import { type Host, parseHost } from '../../../model/host.ts';
import { leafCertificate } from './certificate.ts';
import type { CredentialCall, CredentialKey, Issuer } from './credential.ts';
import { handshakeMs } from './upstream.ts';

interface Kept {
  readonly context: SecureContext;
  readonly untilMs: number;
}

/** A certificate is replaced after half of its life. */
const share = 0.5;
const maxKept = 1000;

export class Interception {
  readonly #kept = new Map<string, Kept>();

  /** The decrypted connection of the client; it is closed when the handshake is for another name. */
  open(socket: CredentialCall['socket'], credential: CredentialKey): TLSSocket {
    const host = parseHost(credential.host);
    const secureContext = this.#context(credential.issuer, host);
    const clear = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] });
    const late = setTimeout(() => clear.destroy(), handshakeMs);
    clear.once('close', () => clearTimeout(late));
    clear.once('secure', () => {
      clearTimeout(late);
      if (!isNamed(clear, host)) clear.destroy();
    });
    return clear;
  }

  #context(issuer: Issuer, host: Host): SecureContext {
    const key = `${issuer.name} ${host.text}`;
    const nowMs = Date.now();
    const known = this.#kept.get(key);
    if (known && known.untilMs > nowMs) return known.context;
    if (this.#kept.size >= maxKept) this.#kept.clear();
    const leaf = leafCertificate(issuer, host, nowMs);
    const context = createSecureContext({ minVersion: 'TLSv1.2', key: leaf.key, cert: leaf.certificate });
    this.#kept.set(key, { context, untilMs: nowMs + (leaf.expiresAtMs - nowMs) * share });
    return context;
  }
}

/** Whether the handshake is for the host. A handshake has no name for an address. */
function isNamed(socket: TLSSocket, host: Host): boolean {
  const { servername } = socket as { servername?: string | false };
  return host.kind === 'address' ? !servername : servername === host.text;
}
