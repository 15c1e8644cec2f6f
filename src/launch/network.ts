import type { SandboxSpec } from '../model/sandbox.ts';
import { insidePorts } from '../network/network.ts';
import type { Hook } from './launch.ts';

const url = `http://127.0.0.1:${insidePorts.proxy}`;
const direct = 'localhost,127.0.0.1,::1';

/** What tools look for that are to use a proxy. Some know the small letters only, some the capitals. */
const proxyEnv: Readonly<Record<string, string>> = {
  HTTP_PROXY: url,
  http_proxy: url,
  HTTPS_PROXY: url,
  https_proxy: url,
  ALL_PROXY: url,
  all_proxy: url,
  NO_PROXY: direct,
  no_proxy: direct,
  npm_config_proxy: url,
  npm_config_https_proxy: url,
  npm_config_noproxy: direct,
  YARN_HTTP_PROXY: url,
  YARN_HTTPS_PROXY: url,
  PIP_PROXY: url,
  NODE_USE_ENV_PROXY: '1',
};

/** How the sandbox reaches what it may reach. */
export const network: Hook = {
  surroundings: ({ spec }) => ({ env: networkEnv(spec) }),
};

/** Also for what runs later in a sandbox that had no network when it started. */
export function networkEnv({ network: given, credentials, env }: SandboxSpec): Readonly<Record<string, string>> {
  const asks = (given?.allow.length ?? 0) > 0 || (credentials?.length ?? 0) > 0;
  return asks ? { ...proxyEnv, ...env } : {};
}
