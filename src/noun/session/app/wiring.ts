/** Constructs what sessions need. */
import { join } from 'node:path';
import type { ConfiguredKernel } from '../../../kernel/daemon/resources.ts';
import { TokenKeys } from '../../../kernel/server/token-keys.ts';
import type { AgentNeeds } from '../../agent/agent.ts';
import type { AgentServers } from '../../agent/app/mcp/agent-servers.ts';
import { NamespaceSockets } from '../../network/proxy/socket/namespace-sockets.ts';
import { type ExecScope, startIn } from '../../sandbox/app/exec.ts';
import type { Sandboxes } from '../../sandbox/sandbox.ts';
import { countChangesIn } from '../../workspace/app/unapplied.ts';
import { SessionTokens } from '../session-tokens.ts';
import { AgentPrograms } from './agent-programs.ts';
import { LiveSessions } from './live-sessions.ts';
import { ProgramSettings } from './program-settings.ts';
import { UserSessions } from './user-sessions.ts';

interface LiveWiring extends ConfiguredKernel {
  readonly agentServers: AgentServers;
}

type ScopeOf = (user: string) => Pick<ExecScope, 'sandboxes' | 'commands' | 'engineOf'>;

export function openSessions(wiring: LiveWiring, scopeOf: ScopeOf): LiveSessions {
  const { store, home, config, report, engineOf, agentServers } = wiring;
  const tokensOf = tokensIn(home);
  const keys = new TokenKeys(join(home.home, 'session-keys'));
  const programs = new AgentPrograms({
    ...{ store, engineOf, settings: new ProgramSettings({ config, keys, agentServers, tokensOf }) },
    startIn: (sandbox, command) => startIn(scopeOf(sandbox.spec.user), sandbox, command),
    openSockets: NamespaceSockets.open,
  });
  return new LiveSessions({
    ...{ store, programs, report },
    folder: (id) => join(home.sandbox(id), 'sessions'),
    hasTokens: (id) => tokensOf(id).wereCreated,
    turnEnded: (sandbox) => scopeOf(sandbox.spec.user).commands.ended(sandbox),
  });
}

function tokensIn(home: Pick<ConfiguredKernel['home'], 'sandbox'>): (id: string) => SessionTokens {
  return (id) => new SessionTokens(join(home.sandbox(id), 'session-tokens.json'));
}

interface UserWiring extends ConfiguredKernel {
  readonly liveSessions: LiveSessions;
  readonly sandboxes: Sandboxes;
  readonly commands: ExecScope['commands'];
  readonly openFolder: (id: string) => Promise<void>;
}

export function sessionsOf(wiring: UserWiring, needs: AgentNeeds): UserSessions {
  const { store, home, config, report, liveSessions, sandboxes, commands } = wiring;
  return new UserSessions({
    ...needs,
    ...{ store, config, report, sandboxes, commands, live: liveSessions },
    tokensOf: tokensIn(home),
    countChanges: (sandbox) => countChangesIn(wiring, sandbox),
    nowMs: () => Date.now(),
  });
}
