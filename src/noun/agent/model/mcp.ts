/** The MCP servers that the agents of a sandbox find configured, and where each comes from. */
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { isObject } from '../../../model/object.ts';
import { type Granted, grantTable } from '../../grant-table.ts';
import { hasHub, hubEnv } from '../../hub/model/service.ts';
import type { SandboxSpec } from '../../sandbox/model.ts';

/**
 * The order of the lists: of two servers with one name the first is used, so that a project cannot replace a server of
 * Carrel or of the user.
 */
export const mcpOrigins = ['carrel', 'home', 'base-plugins', 'project'] as const;
export type McpOrigin = (typeof mcpOrigins)[number];

/** A program inside the sandbox. */
export interface LocalServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface RemoteMcpServer {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface McpServer {
  readonly name: string;
  readonly from: McpOrigin;
  readonly server: LocalServer | RemoteMcpServer;
}

/** A server that a file names and that agents do not get. */
export interface SkippedServer {
  readonly name: string;
  readonly from: McpOrigin;
  readonly reason: string;
}

export interface McpServers {
  readonly servers: readonly McpServer[];
  readonly skipped: readonly SkippedServer[];
}

/** The file of a home, of base plugins and of a project that names servers. */
export const mcpFileName = '.mcp.json';
export const maxMcpFileBytes = 256 * 1024;

/** The list of servers that the daemon writes before each start, read-only inside. */
export const mcpListName = 'mcp.json';
export const mcpListPath = `/run/carrel/metadata/${mcpListName}`;
/** The list that the files of agents were last made from, below the data of a sandbox. */
export const mcpAppliedName = 'agent-mcp.json';
/** The program that writes the files of agents and then runs the command after it. */
export const configurePath = '/opt/carrel/bin/carrel-configure';
/** The record of servers that were added to the files of agents, below the home: only those are removed again. */
export const mcpAddedPath = '.config/carrel/mcp.json';

const maxServers = 50;
const namePattern = /^[A-Za-z0-9_-]{1,64}$/;
const variablePattern = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/;
const maxText = 8192;

const bin = '/opt/carrel/bin';

export function isLocal(server: McpServer['server']): server is LocalServer {
  return 'command' in server;
}

/**
 * The servers of the grants of a sandbox. None has a secret: the daemon knows the sandbox by its port and its mounts.
 */
export function ownServers(spec: Granted & Pick<SandboxSpec, 'services' | 'env'>): McpServer[] {
  const granted = grantTable.flatMap(([field, { server }]): McpServer[] => {
    if (!spec[field]?.some((one) => server !== undefined && (server.comesWith?.(one) ?? true))) return [];
    const { name, program, args } = server!;
    return [{ name, from: 'carrel', server: { command: `${bin}/${program}`, args, env: {} } }];
  });
  return [...granted.sort((one, other) => (one.name < other.name ? -1 : 1)), ...hubServer(hubOf(spec))];
}

function hubOf(spec: Pick<SandboxSpec, 'services' | 'env'>): SandboxSpec['env'] {
  return { ...(hasHub(spec) ? hubEnv : {}), ...spec.env };
}

/** The granted hub, or a hub elsewhere that the variables name. A credential adds the token for the latter outside. */
function hubServer(env: SandboxSpec['env']): McpServer[] {
  const address = env.CARREL_HUB_URL ?? env.CODEBUDDY_URL;
  if (address === undefined || !URL.canParse(address)) return [];
  const url = new URL(address.replace(/^ws/, 'http'));
  if (!/^https?:$/.test(url.protocol) || url.password !== '') return [];
  if (url.pathname === '/') url.pathname = '/mcp';
  return [{ name: 'hub', from: 'carrel', server: { url: url.href, headers: {} } }];
}

/** The servers of a file in the format of claude's `.mcp.json`. Unusable entries are skipped, with the reason. */
export function serversIn(content: unknown, from: McpOrigin): McpServers {
  const named = isObject(content) && isObject(content.mcpServers) ? Object.entries(content.mcpServers) : [];
  const servers: McpServer[] = [];
  const skipped: SkippedServer[] = [];
  for (const [name, value] of named) {
    try {
      if (servers.length >= maxServers) throw new Fault('exhausted', `a file has at most ${maxServers} servers`);
      servers.push({ name: checkName(name), from, server: serverOf(value) });
    } catch (error) {
      skipped.push({ name: name.slice(0, 100), from, reason: (error as Error).message });
    }
  }
  return { servers, skipped };
}

/** The servers of all lists, in order. Of several servers with one name the first is used. */
export function joinedServers(lists: readonly McpServers[]): McpServers {
  const servers = new Map<string, McpServer>();
  const skipped = lists.flatMap((list) => list.skipped);
  for (const one of lists.flatMap((list) => list.servers)) {
    const earlier = servers.get(one.name);
    if (earlier === undefined) servers.set(one.name, one);
    else skipped.push({ name: one.name, from: one.from, reason: `${earlier.from} has a server of that name` });
  }
  return { servers: [...servers.values()], skipped };
}

/** One of `mcpServers` of the Agent Client Protocol. */
export type AcpServer = Readonly<Record<string, unknown>>;

export function acpServers(servers: readonly McpServer[]): AcpServer[] {
  return servers.map(({ name, server }) => {
    if (!isLocal(server)) return { type: 'http', name, url: server.url, headers: pairs(server.headers) };
    return { name, command: server.command, args: [...server.args], env: pairs(server.env) };
  });
}

/** The servers that an agent supports: every agent starts programs, and one that declares it connects to addresses. */
export function usableServers(servers: readonly AcpServer[], takesHttp: boolean): readonly AcpServer[] {
  return takesHttp ? servers : servers.filter(({ type }) => type !== 'http');
}

function pairs(values: Readonly<Record<string, string>>): { name: string; value: string }[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}

function checkName(name: string): string {
  // As a key of an object, this one would be its prototype.
  if (namePattern.test(name) && name !== '__proto__') return name;
  throw new Fault('invalid', `${printable(name)} is not a name for a server`);
}

function serverOf(value: unknown): McpServer['server'] {
  if (!isObject(value)) throw new Fault('invalid', 'it is not an object');
  if (value.command !== undefined) {
    return { command: text(value.command, 'command'), args: list(value.args), env: texts(value.env, 'env') };
  }
  const url = text(value.url ?? value.httpUrl, 'url');
  if (!/^https?:\/\//.test(url)) throw new Fault('invalid', 'its url does not begin with http:// or https://');
  return { url, headers: texts(value.headers, 'headers') };
}

/** Half a surrogate pair cannot be written in TOML: codex would refuse its whole file. */
function text(value: unknown, what: string): string {
  const isText = typeof value === 'string' && value !== '' && value.length <= maxText;
  if (isText && !value.includes('\0') && value.isWellFormed()) return value;
  throw new Fault('invalid', `its ${what} is not a text`);
}

function list(value: unknown = []): string[] {
  if (!Array.isArray(value) || value.length > 100) throw new Fault('invalid', 'its args are not a list');
  return value.map((one) => (one === '' ? '' : text(one, 'args')));
}

function texts(value: unknown, what: string): Record<string, string> {
  if (value === undefined) return {};
  if (!isObject(value) || Object.keys(value).length > 100) throw new Fault('invalid', `its ${what} is not an object`);
  const pattern = what === 'env' ? variablePattern : /^[\x21-\x39\x3b-\x7e]{1,255}$/;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      if (!pattern.test(name)) throw new Fault('invalid', `its ${what} has the name ${printable(name)}`);
      return [name, one === '' ? '' : text(one, what)];
    }),
  );
}
