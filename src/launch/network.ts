import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { dist } from '../lib/package.ts';
import type { SandboxSpec } from '../model/sandbox.ts';
import { insidePorts } from '../network/network.ts';
import { metadataPath } from './identity.ts';
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

/** Where `identity.ts` has a folder inside, so that it is there for whoever gets a network later. */
const preload = 'node-proxy.cjs';
const preloadOption = `--require=${metadataPath}/${preload}`;

/** How the sandbox reaches what it may reach. */
export const network: Hook = {
  surroundings: () => ({}),
  prepare: ({ id }, places) =>
    copyFileSync(join(dist, 'launch', preload), join(places.sandbox(id), 'metadata', preload)),
};

/** Of the sandbox itself, or of what runs in it with `more`, also where it had no network when it started. */
export function networkEnv(
  spec: SandboxSpec,
  more: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  if (!asks(spec)) return more;
  const asked = { ...spec.env, ...more };
  const options = [preloadOption, asked.NODE_OPTIONS].filter((one) => one !== undefined);
  return { ...proxyEnv, ...asked, NODE_OPTIONS: options.join(' ') };
}

/** There is something to ask the proxy for. */
function asks({ network: given, credentials }: SandboxSpec): boolean {
  return (given?.allow.length ?? 0) > 0 || (credentials?.length ?? 0) > 0;
}

/** What the proxy opens last for it (`network/proxy/sandbox-ports.ts`); undefined: it opens nothing. */
function lastPort(spec: SandboxSpec): number | undefined {
  return asks(spec) ? insidePorts.proxy : spec.services?.at(-1)?.port;
}

/**
 * Ports are in hexadecimal, as the kernel lists them; `0A` is a socket that listens. Ten seconds: under a runtime with a network
 * of its own there is nothing to be seen, and a service that is not declared any more does not come.
 */
const waitFor = (port: number) => `
heard() { while read -r _ at _ state _; do [ "\${at##*:} $state" = '${port.toString(16).toUpperCase()} 0A' ] && return 0; done </proc/net/tcp; return 1; }
tries=0
until heard || [ $tries -ge 1000 ]; do tries=$((tries + 1)); sleep 0.01; done
exec "$@"`;

/**
 * On a Docker Engine a sandbox's network namespace comes with its command, and nothing can listen in it before. So the command
 * waits inside for the proxy, however many daemons die meanwhile.
 */
export function commandOf(spec: SandboxSpec): readonly string[] {
  const port = lastPort(spec);
  if (spec.engine !== 'docker' || spec.command.length === 0 || port === undefined) return spec.command;
  return ['/bin/sh', '-c', waitFor(port), 'sh', ...spec.command];
}
