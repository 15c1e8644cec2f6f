import { join } from 'node:path';
import { credentialEnv } from '../model/credential.ts';
import { insidePorts } from '../network/network.ts';
import type { Hook } from './launch.ts';

/** What a sandbox trusts besides what everybody does, as `app/credential/supply.ts` makes it before each start. */
export const trustFiles = { authority: 'authority.pem', bundle: 'bundle.pem' } as const;
const inside = '/run/carrel/trust';
const authority = `${inside}/${trustFiles.authority}`;
const bundle = `${inside}/${trustFiles.bundle}`;

/** Base URLs and placeholders for credentials, and the authority that vouches for their hosts' own names. */
export const credentials: Hook = {
  surroundings: ({ id, spec }, places) => {
    const given = spec.credentials ?? [];
    if (given.length === 0) return {};
    const urls = given.map((one, at) => credentialEnv(one, `http://127.0.0.1:${insidePorts.credential + at}`));
    return {
      mounts: [{ kind: 'bind', source: join(places.sandbox(id), 'trust'), target: inside, readonly: true }],
      env: Object.assign({}, ...urls, trustEnv),
    };
  },
};

/** Those that take one more authority get one; the rest want to know all there are. */
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
