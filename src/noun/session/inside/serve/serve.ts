/**
 * `serve`: the agent API itself. Each run of `start` sends settings to a socket that only one process can hold; `serve`
 * opens the sessions when the first settings arrive.
 */
import { fstatSync, ftruncateSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { firstBytes } from '../../../../lib/process/collect.ts';
import { asFault, Fault } from '../../../../model/fault.ts';
import { list, object, plainObject, record, type Shape, ShapeError, text, whole } from '../../../../model/shape.ts';
import { listen } from '../../../agent/inside/listen.ts';
import { type AcpSpec, agentSpec } from '../../../agent/model/agent.ts';
import type { ApiSettings } from '../../model/settings.ts';
import { AcpDriver } from '../acp/acp.ts';
import { endOrphans } from '../driver/orphans.ts';
import { serveSessions } from '../http/http.ts';
import { SandboxSessions } from '../sandbox-sessions.ts';
import { type ApiPaths, socketName } from './api-paths.ts';

const maxSettings = 4 * 1024 ** 2;
const maxLogBytes = 1024 ** 2;

interface Serving {
  readonly settings: LiveSettings;
  readonly sessions: SandboxSessions;
  readonly http: HttpServer;
}

/** Serves until a signal. False: another agent API serves here already. */
export async function serve(paths: ApiPaths): Promise<boolean> {
  let serving: Promise<Serving> | null = null;
  const configure = async (settings: ApiSettings): Promise<number> => {
    serving ??= begin(paths, settings).catch((error: unknown) => {
      serving = null;
      throw error;
    });
    const { settings: live, http } = await serving;
    live.current = settings;
    return (http.address() as AddressInfo).port;
  };
  const control = await listen(socketName(paths), (socket) => void receive(socket, configure));
  if (control === null) return false;
  log('listens');
  await new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, resolve);
    // The hang-up of the terminal in which `start` ran, ignoring.
    process.on('SIGHUP', () => {});
  });
  await end(await (serving as Promise<Serving> | null)?.catch(() => null));
  control.close();
  log('ends');
  return true;
}

async function begin(paths: ApiPaths, first: ApiSettings): Promise<Serving> {
  const settings = new LiveSettings(first);
  mkdirSync(paths.folder, { recursive: true, mode: 0o700 });
  await endOrphans(paths.folder);
  linkSeedNames(paths);
  const env = Object.fromEntries(Object.entries(process.env).filter((one): one is [string, string] => !!one[1]));
  const parts = { settings: () => settings, folder: paths.folder, env, secretsFolder: paths.secrets };
  const sessions = await SandboxSessions.open({
    ...{ folder: paths.folder, cwd: paths.cwd, settings: () => settings },
    start: (options, recorder) => AcpDriver.start(options, recorder, parts),
  });
  const http = await serveSessions(sessions, settings, paths.port);
  return { settings, sessions, http };
}

async function end(serving: Serving | null | undefined): Promise<void> {
  if (!serving) return;
  serving.http.close();
  await serving.sessions.dispose();
  serving.http.closeAllConnections();
}

async function receive(socket: Socket, configure: (settings: ApiSettings) => Promise<number>): Promise<void> {
  socket.on('error', () => socket.destroy());
  try {
    const port = await configure(parseSettings(await textOf(socket)));
    socket.end(`${JSON.stringify({ port })}\n`);
  } catch (error) {
    const fault = asFault(error);
    log(fault.message);
    socket.end(`${JSON.stringify({ fault })}\n`);
  }
}

export async function textOf(stream: Readable): Promise<string> {
  // The socket stays open, because the answer goes back on it.
  const bytes = await firstBytes(stream.iterator({ destroyOnReturn: false }), maxSettings + 1);
  if (bytes.length > maxSettings) throw new Fault('invalid', `the settings have more than ${maxSettings} bytes`);
  return bytes.toString();
}

/** Links the files of the newest session into the home. A home that cannot be written gets no links, ignoring. */
function linkSeedNames({ home, folder }: ApiPaths): void {
  const names = { 'agent-session.json': 'session.json', 'agent-messages.json': 'messages.json' };
  try {
    mkdirSync(join(home, '.config/carrel'), { recursive: true });
    for (const [name, file] of Object.entries(names)) {
      const path = join(home, '.config/carrel', name);
      rmSync(path, { force: true });
      symlinkSync(join(folder, 'newest', file), path);
    }
  } catch {}
}

/** Writes to stderr, a file that is truncated when it is full. */
export function log(text: string): void {
  if (fstatSync(2).isFile() && fstatSync(2).size > maxLogBytes) ftruncateSync(2, 0);
  process.stderr.write(`${new Date().toISOString()} ${text}\n`);
}

const acpSpec: Shape<AcpSpec> = (value, path) => {
  const spec = agentSpec(value, path);
  if (spec.kind !== 'acp') throw new ShapeError([...path, 'kind'], 'must be "acp"');
  return spec;
};

const settingsShape = object(
  {
    tokens: list(text({ pattern: /^[0-9a-f]{64}$/, says: 'a SHA-256 in hex' }), 100),
    agents: record({ pattern: /^[^\0-\x1f]{1,200}$/, says: 'the name of an agent' }, acpSpec, 100),
    defaultAgent: text({ min: 1, max: 200 }),
    mcpServers: list(plainObject, 100),
    sandbox: text({ max: 200 }),
    idleAgentSeconds: whole(1, 604_800),
  },
  { version: text({ max: 100 }) },
);

function parseSettings(json: string): ApiSettings {
  try {
    return settingsShape(JSON.parse(json), []);
  } catch (error) {
    throw new Fault('invalid', `the settings are not valid: ${(error as Error).message}`);
  }
}

/** Settings that are always the newest, for parts that keep a reference to them. */
class LiveSettings implements ApiSettings {
  current: ApiSettings;

  constructor(first: ApiSettings) {
    this.current = first;
  }

  get tokens() {
    return this.current.tokens;
  }

  get agents() {
    return this.current.agents;
  }

  get defaultAgent() {
    return this.current.defaultAgent;
  }

  get mcpServers() {
    return this.current.mcpServers;
  }

  get sandbox() {
    return this.current.sandbox;
  }

  get idleAgentSeconds() {
    return this.current.idleAgentSeconds;
  }

  get version() {
    return this.current.version ?? '';
  }
}
