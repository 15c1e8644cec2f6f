/** Constructs what sessions need. */
import { createHash, createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { ApiSettings } from '../agent/session/session.ts';
import type { AgentNeeds } from '../app/agent-needs.ts';
import type { Config } from '../app/app.ts';
import { type ExecScope, execSpec } from '../app/sandbox/exec.ts';
import type { Sandboxes } from '../app/sandbox/sandboxes.ts';
import { agentsOf, defaultIn } from '../app/session/agents.ts';
import { LiveSessions } from '../app/session/live-sessions.ts';
import { mcpServersOf } from '../app/session/mcp-servers.ts';
import { UserSessions } from '../app/session/user-sessions.ts';
import type { EngineOf } from '../engine/engine.ts';
import { notStarted } from '../engine/exit.ts';
import { TokenKeys } from '../hub/token-key.ts';
import { workspacePlace } from '../launch/workspace.ts';
import { collect } from '../lib/collect.ts';
import { inTime } from '../lib/in-time.ts';
import { asFault, Fault } from '../model/fault.ts';
import type { Sandbox } from '../model/sandbox.ts';
import { agentApiPath, agentApiPort } from '../model/session.ts';
import { NamespaceSockets } from '../network/proxy/namespace-sockets.ts';
import { AgentApi } from '../session/agent-api.ts';
import { hashOf, SessionTokens } from '../session/tokens.ts';
import type { Resources } from './resources.ts';

interface LiveWiring extends Pick<Resources, 'store' | 'home' | 'config' | 'report'> {
  readonly engineOf: EngineOf;
}

type ScopeOf = (user: string) => Pick<ExecScope, 'sandboxes' | 'commands'>;

const startMs = 60_000;
/** An agent that has nothing to do ends after this time; the next prompt starts it again. */
const idleAgentSeconds = 900;

export function openSessions(wiring: LiveWiring, scopeOf: ScopeOf): LiveSessions {
  const { store, home, config, report, engineOf } = wiring;
  const keys = new TokenKeys(join(home.home, 'session-keys'));
  const tokenOf = ({ id, spec }: Sandbox) => createHmac('sha256', keys.ensure(spec.user)).update(id).digest('hex');
  const dial = dialer(engineOf);
  const now = (sandbox: Sandbox) => store.get('sandbox', sandbox.id)?.value ?? sandbox;
  const settings = (sandbox: Sandbox) =>
    settingsOf(sandbox, config, tokenOf(sandbox), new SessionTokens(tokensPath(home, sandbox.id)));
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

/** The thread starts with the first connection; one that ended is replaced. */
function dialer(engineOf: EngineOf): (sandbox: Sandbox) => Promise<Socket> {
  let sockets: Promise<NamespaceSockets> | null = null;
  return async (sandbox) => {
    const init = await engineOf(sandbox).network(sandbox.id, sandbox.status.handle);
    sockets ??= NamespaceSockets.open(() => {
      sockets = null;
    });
    const fd = await (await sockets).connect(init, agentApiPort, 4);
    return new Socket({ fd, readable: true, writable: true }).setNoDelay(true);
  };
}

/** Of tokens only hashes go inside. */
function settingsOf(sandbox: Sandbox, config: Pick<Config, 'agents'>, own: string, others: SessionTokens): ApiSettings {
  const settings = {
    tokens: [hashOf(own), ...others.hashes()],
    agents: agentsOf(config),
    defaultAgent: defaultIn(sandbox),
    mcpServers: mcpServersOf(sandbox).map((server) => ({ ...server })),
    sandbox: sandbox.name,
    idleAgentSeconds,
  };
  return { ...settings, version: createHash('sha256').update(JSON.stringify(settings)).digest('hex') };
}

function tokensPath(home: Pick<Resources['home'], 'sandbox'>, id: string): string {
  return join(home.sandbox(id), 'session-tokens.json');
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
  const exit = await inTime(startMs, program.exited, () => null as never);
  if (exit === null) await program.signal('SIGKILL').catch(() => {});
  if (exit?.exitCode === 0) return;
  if (exit?.exitCode === notStarted) throw withoutPrograms(sandbox);
  const why = said().toString().trim() || (exit === null ? 'it does not end' : `exit code ${exit.exitCode}`);
  throw new Fault('unavailable', `the agent API of ${sandbox.name} could not be started: ${why}`, {
    hint: `Try: carrel exec ${sandbox.name} -- ${agentApiPath} start`,
  });
}

/** Of a version that mounted them only in some sandboxes. */
function withoutPrograms({ name }: Sandbox): Fault {
  return new Fault('conflict', `the sandbox ${name} was started without the programs that sessions need`, {
    hint: `The next start mounts them: carrel stop ${name} && carrel start ${name}`,
  });
}

interface UserWiring extends Pick<Resources, 'home' | 'config' | 'threads'> {
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
    turnStarts: (sandbox) => commands.starts(sandbox),
    countChanges: async (sandbox) => {
      const place = workspacePlace(sandbox, home);
      if (place === null) return null;
      await openFolder(sandbox.id);
      return threads.run({ user: sandbox.spec.user }, 'countChanges', place);
    },
    nowMs: () => Date.now(),
  });
}
