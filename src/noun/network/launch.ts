import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { programFile } from '../../lib/file/package.ts';
import type { SandboxSpec } from '../sandbox/model.ts';
import type { SandboxPart } from '../sandbox/part/part.ts';
import { metadataPath } from '../sandbox/part/part.ts';
import { insidePorts } from './network.ts';

const url = `http://127.0.0.1:${insidePorts.proxy}`;
const direct = 'localhost,127.0.0.1,::1';

/** The variables by which tools find a proxy. Some tools read only lower case, some only upper case. */
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

/**
 * A file in the folder that `noun/sandbox/launch/identity.ts` mounts in every sandbox, so that it exists when a network is allowed later.
 */
const preload = 'node-proxy.cjs';
const preloadOption = `--require=${metadataPath}/${preload}`;

/** Programs inside find the proxy by variables, Node by a script that it loads first. */
export const network: SandboxPart = {
  command: ({ spec }, _places, command) => afterProxy(spec, command),
  commandEnv: networkEnv,
  prepare: ({ id }, places) =>
    copyFileSync(programFile('node-proxy', 'cjs'), join(places.sandbox(id), 'metadata', preload)),
};

/**
 * The environment for a network: of the sandbox's command, or, with `more`, of an exec, which may begin after a network
 * was allowed.
 */
function networkEnv(spec: SandboxSpec, more: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (!usesProxy(spec)) return more;
  const variables = { ...spec.env, ...more };
  const options = [preloadOption, variables.NODE_OPTIONS].filter((one) => one !== undefined);
  return { ...proxyEnv, ...variables, NODE_OPTIONS: options.join(' ') };
}

function usesProxy({ network: rules, credentials }: SandboxSpec): boolean {
  return (rules?.allow.length ?? 0) > 0 || (credentials?.length ?? 0) > 0;
}

/** The port that the proxy opens last for the sandbox (`noun/network/proxy/sandbox-ports.ts`); undefined: it opens none. */
function lastPort(spec: SandboxSpec): number | undefined {
  return usesProxy(spec) ? insidePorts.proxy : spec.services?.at(-1)?.port;
}

/**
 * Waits until a socket listens at the port. The kernel lists ports in hexadecimal; `0A` is a listening socket. The wait
 * is at most ten seconds: a runtime with its own network stack does not list the socket, and a service that is no
 * longer declared never listens.
 */
const waitFor = (port: number) => `
heard() { while read -r _ at _ state _; do [ "\${at##*:} $state" = '${port.toString(16).toUpperCase()} 0A' ] && return 0; done </proc/net/tcp; return 1; }
tries=0
until heard || [ $tries -ge 1000 ]; do tries=$((tries + 1)); sleep 0.01; done
exec "$@"`;

/**
 * On a Docker Engine the network namespace of a sandbox is created with its command, so the proxy cannot listen there
 * before. Instead the command waits inside for the proxy, also if the daemon dies and is replaced meanwhile.
 */
function afterProxy(spec: SandboxSpec, command: readonly string[]): readonly string[] {
  const port = lastPort(spec);
  if (spec.engine !== 'docker' || command.length === 0 || port === undefined) return command;
  return ['/bin/sh', '-c', waitFor(port), 'sh', ...command];
}
