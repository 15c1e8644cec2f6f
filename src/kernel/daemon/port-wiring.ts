/** Constructs the port for MCP clients. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asFault, Fault } from '../../model/fault.ts';
import type { Scope } from '../../noun/app.ts';
import { hubPort } from '../../noun/hub/app/hub-port.ts';
import { SandboxCallers } from '../../noun/hub/app/sandbox-callers.ts';
import { hubService } from '../../noun/hub/model/service.ts';
import type { Authentication, ClientIdentity } from '../../noun/hub/token/authentication.ts';
import { defaultHttp } from '../../noun/installation/app/config.ts';
import type { HttpSettings } from '../../noun/installation/installation.ts';
import type { Users } from '../../noun/user/app/users.ts';
import { type OpenHandler, openPort, type Port } from '../server/port.ts';
import { bindPort, createPortServer, type PortAddress, portTimes } from '../server/port-server.ts';
import type { Resources } from './resources.ts';
import type { Scopes } from './scopes.ts';

export interface PortWiringParts {
  readonly users: Pick<Users, 'actorOf'>;
  readonly scopes: Scopes<Scope>;
  readonly hubTokens: Authentication;
  readonly webhooks: OpenHandler;
}

export interface PortOptions {
  readonly settings: HttpSettings | null;
  /** The port in `carrel up --port`. */
  readonly port: number | null;
  readonly container: { readonly names: readonly string[] } | null;
}

/**
 * In a container the port listens on all addresses without TLS: only the containers of its projects share its network,
 * and the port is published at 127.0.0.1 of the machine.
 */
const inContainer: HttpSettings = { ...defaultHttp, address: '0.0.0.0' };

/** Null: no port is configured. */
export async function openHubPort(
  options: PortOptions,
  { users, scopes, hubTokens, webhooks }: PortWiringParts,
): Promise<Port | null> {
  const { settings, port: requested, container } = options;
  if (settings === null && requested === null && container === null) return null;
  const fallback = container === null ? defaultHttp : inContainer;
  const http = { ...(settings ?? fallback), ...(requested === null ? {} : { port: requested }) };
  const hubOf = ({ user }: ClientIdentity) => scopes.of(users.actorOf(user)).hub;
  const port = hubPort({
    ...{ authentication: hubTokens, requestsPerSecond: http.rate },
    partsOf: (identity) => hubOf(identity).mcp(identity.caller),
    spokes: {
      check: (identity, project) => void hubOf(identity).elsewhere(project),
      connect: (identity, project, streams) => hubOf(identity).acceptSpoke(project, streams),
    },
  });
  return openPort({ ...addressOf(http), names: container?.names ?? [] }, { ...port, open: [webhooks] });
}

export interface SandboxHubParts extends Pick<PortWiringParts, 'users' | 'scopes'>, Pick<Resources, 'home' | 'store'> {
  readonly config: Pick<Resources['config'], 'http'>;
}

export function hubSocket(home: string): string {
  return join(home, 'hub.sock');
}

/** The hub for sandboxes with a grant for it: the proxy connects and names the sandbox. */
export function openSandboxHub({ home, store, config, users, scopes }: SandboxHubParts): Promise<Port> {
  const scopeOf = (user: string) => scopes.of(users.actorOf(user));
  const callers = new SandboxCallers({
    find: (id) => store.get('sandbox', id)?.value ?? null,
    projectsOf: (user) => scopeOf(user).projects.all(),
  });
  const port = hubPort({
    ...{ authentication: callers, requestsPerSecond: (config.http ?? defaultHttp).rate },
    partsOf: ({ user, caller }) => scopeOf(user).hub.mcp(caller),
  });
  const where = { port: hubService.port, address: '127.0.0.1', tls: null, socket: hubSocket(home.home) };
  return openPort(where, port);
}

/** Opens a port with these settings and closes it again. Returns why that failed; null: it works. */
export async function portRefusal(http: HttpSettings): Promise<Fault | null> {
  try {
    const server = createPortServer(addressOf(http), () => {}, portTimes);
    await bindPort(server, http, 1);
    server.close();
    return null;
  } catch (error) {
    return asFault(error);
  }
}

function addressOf({ port, address, tls }: HttpSettings): PortAddress {
  if (tls === null) return { port, address, tls };
  return { port, address, tls: { cert: read('cert', tls.cert), key: read('key', tls.key) } };
}

function read(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Fault('invalid', `http.tls.${name}: ${(error as Error).message}`, {
      hint: 'See config.yaml.',
      cause: error,
    });
  }
}
