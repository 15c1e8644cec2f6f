/**
 * Checks Host and Origin before anything else of a request is read. A page in a browser can send requests to this
 * machine, and by DNS rebinding can do so under its own name; the checks refuse both.
 */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { Fault } from '../../model/fault.ts';

export const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

export class SameSite {
  readonly #names: ReadonlySet<string>;
  readonly #certificate: X509Certificate | null;
  readonly #hint: string;

  /** `own`: addresses and names of the port. The names in the certificate are accepted, too. */
  constructor(own: readonly string[], certificate: string | Buffer | null, hint: string) {
    this.#hint = hint;
    const names = own.map((name) => (name.includes(':') ? `[${name}]` : name).toLowerCase());
    this.#names = new Set([...loopbackNames, ...names]);
    this.#certificate = certificate === null ? null : new X509Certificate(certificate);
  }

  /** Only browsers send an Origin. */
  check({ host, origin }: { readonly host: string | undefined; readonly origin: string | undefined }): void {
    if (!this.#isOwn(hostname(`http://${host}`))) throw this.#refused('Host', host);
    if (origin !== undefined && !this.#isOwn(hostname(origin))) throw this.#refused('Origin', origin);
  }

  #isOwn(name: string | null): boolean {
    if (name === null) return false;
    if (this.#names.has(name)) return true;
    const bare = name.replace(/^\[(.*)\]$/, '$1');
    const found = isIP(bare) === 0 ? this.#certificate?.checkHost(bare) : this.#certificate?.checkIP(bare);
    return found !== undefined;
  }

  #refused(header: string, value: string | undefined): Fault {
    const shown = value === undefined ? 'no value' : JSON.stringify(value.slice(0, 100));
    return new Fault('denied', `the header ${header} has ${shown}, which is not a name of this server`, {
      hint: this.#hint,
    });
  }
}

function hostname(url: string): string | null {
  try {
    const { protocol, username, pathname, hostname } = new URL(url);
    const isPlain = username === '' && pathname === '/' && (protocol === 'http:' || protocol === 'https:');
    return isPlain ? hostname : null;
  } catch {
    return null;
  }
}
