/**
 * Supplies the credentials of sandboxes: the proxy gets the keys, in memory; a sandbox gets only the certificates to
 * trust.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import type { Home } from '../../../../kernel/home/home.ts';
import type { Store } from '../../../../kernel/store/store.ts';
import { readIfThere } from '../../../../lib/file/file.ts';
import { hostText, parseHost } from '../../../../model/host.ts';
import type { Sandbox } from '../../../sandbox/model.ts';
import type { Secrets } from '../../../user/secret/secret.ts';
import { authorityKey } from '../../credential/authority.ts';
import { authorityCertificate } from '../../credential/certificate.ts';
import type { CredentialTarget, Issuer, CredentialKey as Supplied } from '../../credential/credential.ts';
import { trustFiles } from '../../credential/launch.ts';
import {
  allowedPaths,
  type Credential,
  type CredentialService,
  claimHeader,
  headerValue,
  maxCredentials,
} from '../../model/credential.ts';
import { insidePorts } from '../../network.ts';
import { credentialsOf } from './user-credentials.ts';

export interface SupplyParts {
  readonly home: Pick<Home, 'home' | 'sandbox'>;
  readonly store: Store;
  readonly secrets: Pick<Secrets, 'read'>;
  /** Authorities that the owner of the installation trusts for services, in PEM. */
  readonly roots: readonly string[];
}

export class CredentialSupply {
  readonly #parts: SupplyParts;
  #key: string | null = null;

  constructor(parts: SupplyParts) {
    this.#parts = parts;
  }

  /** The keys for the proxy. The first service of each credential gets the port that its base URL names. */
  keysOf(sandbox: Sandbox): Supplied[] {
    const credentials = this.#credentialsOf(sandbox);
    if (credentials.length === 0) return [];
    const [issuer, first] = [this.#issuer(sandbox), insidePorts.credential];
    let further = first + maxCredentials;
    return credentials.flatMap((credential, at) => {
      const { secret, services } = credential;
      const value = this.#parts.secrets.read(sandbox.spec.user, secret);
      return services.map((service, index) => ({
        ...targetOf(credential, service, value),
        value: headerValue(service, secret, value),
        secret: Buffer.from(value).toString('latin1'),
        insidePort: index === 0 ? first + at : further++,
        issuer,
        roots: this.#parts.roots,
      }));
    });
  }

  /** HOST:PORT of each service, without any value. */
  hostsOf(sandbox: Sandbox): { name: string; place: string }[] {
    return this.#credentialsOf(sandbox).flatMap(({ name, services }) =>
      services.map(({ host, port }) => ({ name, place: `${hostText(parseHost(host))}:${port}` })),
    );
  }

  /** Called before a start: writes the certificates that the sandbox trusts. */
  provideTrust(sandbox: Sandbox): void {
    const hosts = this.#credentialsOf(sandbox).flatMap(({ services }) => services.map(({ host }) => parseHost(host)));
    if (hosts.length === 0) return;
    const folder = join(this.#parts.home.sandbox(sandbox.id), 'trust');
    const authority = authorityCertificate(this.#issuer(sandbox), hosts, Date.now());
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o755);
    // No fsync: the files are written again at every start, before they are read.
    for (const [name, text] of [
      [trustFiles.authority, authority],
      [trustFiles.bundle, `${knownAuthorities()}\n${authority}`],
    ] as const)
      writeFileSync(join(folder, name), text, { mode: 0o644 });
  }

  #credentialsOf({ spec }: Sandbox): Credential[] {
    if (!spec.credentials?.length) return [];
    const known = new Map(credentialsOf(this.#parts.store, spec.user).map((one) => [one.name, one]));
    return spec.credentials.map(({ name }) => known.get(name)).filter((one) => one !== undefined);
  }

  /** The key of the authority is made when the first sandbox needs it. */
  #issuer({ id }: Sandbox): Issuer {
    this.#key ??= authorityKey(join(this.#parts.home.home, 'authority.pem'));
    return { key: this.#key, name: `Carrel for ${id}` };
  }
}

/** The target of a service, without the value of its header. */
function targetOf(
  credential: Credential,
  service: CredentialService,
  value: Uint8Array,
): Omit<CredentialTarget, 'value'> {
  const { name } = credential;
  const { host, port, header, drops = [], scheme } = service;
  const paths = allowedPaths(credential);
  const also = claimHeader(service, value);
  return {
    ...{ name, host, port, header, drops },
    ...(scheme === undefined ? {} : { scheme }),
    ...(paths === undefined ? {} : { paths }),
    ...(also === null ? {} : { also }),
  };
}

/** The files in which distributions keep all authorities. */
const bundles = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/cert.pem'];

function knownAuthorities(): string {
  for (const path of bundles) {
    const text = readIfThere(path);
    if (text) return text;
  }
  return rootCertificates.join('\n');
}
