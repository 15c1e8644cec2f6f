/** Constructs what sessions need. */
import { createHash, createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiSettings } from '../agent/session/session.ts';
import type { AgentNeeds } from '../app/agent-needs.ts';
import type { Config } from '../app/app.ts';
import type { AgentServers } from '../app/mcp/agent-servers.ts';
import { type ExecScope, execSpec } from '../app/sandbox/exec.ts';
import type { Sandboxes } from '../app/sandbox/sandboxes.ts';
import { agentsIn, defaultIn } from '../app/session/agents.ts';
import { LiveSessions } from '../app/session/live-sessions.ts';
import { UserSessions } from '../app/session/user-sessions.ts';
import type { EngineOf } from '../engine/engine.ts';
import { notStarted } from '../engine/exit.ts';
import { TokenKeys } from '../hub/token-key.ts';
import { workspacePlace } from '../launch/workspace.ts';
import { collect } from '../lib/collect.ts';
import { type Listener, listenerAt } from '../lib/listener.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { asFault, Fault } from '../model/fault.ts';
import { acpServers } from '../model/mcp.ts';
import { printable } from '../model/name.ts';
import type { Sandbox } from '../model/sandbox.ts';
import { agentApiPath, agentApiPort } from '../model/session.ts';
import { NamespaceSockets } from '../network/proxy/namespace-sockets.ts';
import { AgentApi } from '../session/agent-api.ts';
import { hashOf, SessionTokens } from '../session/tokens.ts';
import type { Resources } from './resources.ts';

interface LiveWiring extends Pick<Resources, 'store' | 'home' | 'config' | 'report'> {
  readonly engineOf: EngineOf;
  readonly agentServers: AgentServers;
}

type ScopeOf = (user: string) => Pick<ExecScope, 'sandboxes' | 'commands'>;

const startMs = 60_000;
/** An idle agent is ended after this time; the next prompt starts it again. */
const idleAgentSeconds = 900;

export function openSessions(wiring: LiveWiring, scopeOf: ScopeOf): LiveSessions {
  const { store, home, config, report, engineOf, agentServers } = wiring;
  const keys = new TokenKeys(join(home.home, 'session-keys'));
  const tokenOf = ({ id, spec }: Sandbox) => createHmac('sha256', keys.ensure(spec.user)).update(id).digest('hex');
  const dial = dialer(engineOf);
  const now = (sandbox: Sandbox) => store.get('sandbox', sandbox.id)?.value ?? sandbox;
  const settings = (sandbox: Sandbox) =>
    settingsOf(sandbox, {
      ...{ config, own: tokenOf(sandbox), servers: agentServers },
      others: new SessionTokens(tokensPath(home, sandbox.id)),
    });
  return new LiveSessions({
    store,
    folder: (id) => join(home.sandbox(id), 'sessions'),
    api: (sandbox) => new AgentApi(() => dial(now(sandbox)), tokenOf(sandbox)),
    startProgram: (sandbox) => startProgram(sandbox, { engineOf, settings: settings(sandbox), scopeOf }),
    isCurrent: (sandbox, health) =>
      (health as { readonly settings?: unknown } | null)?.settings === settings(sandbox).version,
    hasTokens: (id) => existsSync(tokensPath(home, id)),
    turnEnded: (sandbox) => {
      const { commands } = scopeOf(sandbox.spec.user);
      commands.ended(sandbox).catch((error: unknown) => report(sandbox.id, asFault(error)));
    },
    report,
  });
}

/**
 * The thread is started with the first connection. If it ended or could not start, the next connection starts another.
 */
function dialer(engineOf: EngineOf): (sandbox: Sandbox) => Promise<Socket> {
  let sockets: Promise<NamespaceSockets> | null = null;
  return async (sandbox) => {
    const init = await engineOf(sandbox).network(sandbox.id, sandbox.status.handle);
    if (sockets === null) {
      const forget = () => {
        sockets = null;
      };
      sockets = NamespaceSockets.open(forget);
      sockets.catch(forget);
    }
    const fd = await (await sockets).connect(init, agentApiPort, 4);
    const socket = new Socket({ fd, readable: true, writable: true }).setNoDelay(true);
    try {
      requireAgentApi(sandbox.name, init.pid);
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  };
}

/**
 * An agent can end the agent API and listen at its port. If the listener was started as another program, the daemon
 * sends no request, so that the listener does not see the daemon's token. This check misses an agent that imitates the
 * program exactly; such an agent learns nothing that is valid outside of its sandbox.
 */
function requireAgentApi(sandbox: string, init: number): void {
  const listener = listenerAt(agentApiPort, init);
  if (listener === null || isAgentApi(listener)) return;
  const what = printable(listener.arguments.join(' ').slice(0, 100));
  throw new Fault('unavailable', `port ${agentApiPort} of ${sandbox} is held by another program: ${what}`, {
    hint: `End it, or stop and start the sandbox: carrel stop ${sandbox} && carrel start ${sandbox}`,
  });
}

interface SettingsParts {
  readonly config: Pick<Config, 'agents'>;
  readonly own: string;
  readonly others: SessionTokens;
  readonly servers: Pick<AgentServers, 'of'>;
}

/**
 * Only hashes of tokens go inside. For tokens of clients these are hashes of hashes, because the proxy hashes the
 * tokens of requests to a forwarded port (decision 94).
 */
function settingsOf(sandbox: Sandbox, { config, own, others, servers }: SettingsParts): ApiSettings {
  const settings = {
    tokens: [hashOf(own), ...others.hashes().map(hashOf)],
    agents: agentsIn(sandbox, config),
    defaultAgent: defaultIn(sandbox),
    mcpServers: acpServers(servers.of(sandbox).servers),
    sandbox: sandbox.name,
    idleAgentSeconds,
  };
  return { ...settings, version: createHash('sha256').update(JSON.stringify(settings)).digest('hex') };
}

function tokensPath(home: Pick<Resources['home'], 'sandbox'>, id: string): string {
  return join(home.sandbox(id), 'session-tokens.json');
}

/** Whether the listener is the program that `launch/tools.ts` starts. */
function isAgentApi({ arguments: [, program = '', command] }: Listener): boolean {
  return program.startsWith(`${dirname(agentApiPath)}/`) && program.endsWith('/session/main.js') && command === 'serve';
}

interface StartParts {
  readonly engineOf: EngineOf;
  readonly settings: ApiSettings;
  readonly scopeOf: ScopeOf;
}

async function startProgram(sandbox: Sandbox, { engineOf, settings, scopeOf }: StartParts): Promise<void> {
  const { sandboxes, commands } = scopeOf(sandbox.spec.user);
  await commands.starts(sandbox);
  const spec = execSpec({ command: [agentApiPath, 'start'], stdin: true }, sandbox, sandboxes.cwd(sandbox));
  const program = await engineOf(sandbox).exec(sandbox.id, sandbox.status.handle, spec);
  const said = collect(program.stderr, 2000);
  program.stdout.resume();
  program.stdin.on('error', () => {});
  program.stdin.end(JSON.stringify(settings));
  const exit = await withTimeout(startMs, program.exited, () => null as never);
  if (exit === null) await program.signal('SIGKILL').catch(() => {});
  if (exit?.exitCode === 0) return;
  if (exit?.exitCode === notStarted) throw withoutPrograms(sandbox);
  const { pid } = await engineOf(sandbox).network(sandbox.id, sandbox.status.handle);
  requireAgentApi(sandbox.name, pid);
  const why = said().toString().trim() || (exit === null ? 'it does not end' : `exit code ${exit.exitCode}`);
  throw new Fault('unavailable', `the agent API of ${sandbox.name} could not be started: ${why}`, {
    hint: `Try: carrel exec ${sandbox.name} -- ${agentApiPath} start`,
  });
}

/** Older versions mounted these programs only in some sandboxes. */
function withoutPrograms({ name }: Sandbox): Fault {
  return new Fault('conflict', `the sandbox ${name} was started without the programs that sessions need`, {
    hint: `The next start mounts them: carrel stop ${name} && carrel start ${name}`,
  });
}

/**
 * Looking at a working copy takes a processor for milliseconds, so it is delayed: clients first get the agent's first
 * text.
 */
const lookMs = 25;

type Look = (sandbox: Sandbox) => Promise<void>;

/** Looks at the sandbox after `lookMs` if it still runs. */
function lookSoon({ id }: Sandbox, { store, report }: Pick<Resources, 'store' | 'report'>, look: Look): void {
  const looked = pause(lookMs, undefined, { ref: false }).then(async () => {
    const sandbox = store.get('sandbox', id)?.value;
    if (sandbox?.status.state === 'running') await look(sandbox);
  });
  looked.catch((error: unknown) => report(id, asFault(error)));
}

interface UserWiring extends Pick<Resources, 'store' | 'home' | 'config' | 'threads' | 'report'> {
  readonly liveSessions: LiveSessions;
  readonly sandboxes: Sandboxes;
  readonly commands: ExecScope['commands'];
  readonly openFolder: (id: string) => Promise<void>;
}

export function sessionsOf(wiring: UserWiring, needs: AgentNeeds): UserSessions {
  const { home, config, threads, liveSessions, sandboxes, commands, openFolder } = wiring;
  return new UserSessions({
    ...needs,
    ...{ config, sandboxes, live: liveSessions },
    tokensOf: (id) => new SessionTokens(tokensPath(home, id)),
    turnStarts: (sandbox) => lookSoon(sandbox, wiring, (running) => commands.starts(running)),
    countChanges: async (sandbox) => {
      const place = workspacePlace(sandbox, home);
      if (place === null) return null;
      await openFolder(sandbox.id);
      return threads.run({ user: sandbox.spec.user }, 'countChanges', place);
    },
    nowMs: () => Date.now(),
  });
}
