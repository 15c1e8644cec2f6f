import { join } from 'node:path';
import type { SandboxPart } from '../../sandbox/part/part.ts';
import { credentialEnv } from '../model/credential.ts';
import { credentialUrl } from '../network.ts';

/** The certificate authorities that a sandbox trusts additionally. `noun/network/app/credential/supply.ts` writes them before each start. */
export const trustFiles = { authority: 'authority.pem', bundle: 'bundle.pem' } as const;
const inside = '/run/carrel/trust';
const authority = `${inside}/${trustFiles.authority}`;
const bundle = `${inside}/${trustFiles.bundle}`;

/** Adds base URLs and placeholders for credentials, and the authority that signs certificates for their hosts. */
export const credentials: SandboxPart = {
  additions: ({ id, spec }, places) => {
    const grants = spec.credentials ?? [];
    if (grants.length === 0) return {};
    const urls = grants.map((one, at) => credentialEnv(one, credentialUrl(at)));
    return {
      mounts: [{ kind: 'bind', source: join(places.sandbox(id), 'trust'), target: inside, readonly: true }],
      env: Object.assign({}, ...urls, trustEnv),
    };
  },
};

/** Some programs take an additional authority; all others take a bundle with all authorities. */
const trustEnv = {
  NODE_EXTRA_CA_CERTS: authority,
  DENO_CERT: authority,
  SSL_CERT_FILE: bundle,
  CURL_CA_BUNDLE: bundle,
  GIT_SSL_CAINFO: bundle,
  REQUESTS_CA_BUNDLE: bundle,
  PIP_CERT: bundle,
  npm_config_cafile: bundle,
  CARGO_HTTP_CAINFO: bundle,
  AWS_CA_BUNDLE: bundle,
};
