/** Constructs what the memory needs. */
import { join } from 'node:path';
import type { LiveBanks } from '../app/bank/live-banks.ts';
import { sandboxMemoryTools } from '../app/hub/tool/memory.ts';
import { LiveMemories, type LiveMemoriesParts } from '../app/memory/live-memories.ts';
import { installedAt } from '../app/memory/packages.ts';
import { SandboxMemory } from '../app/memory/sandbox-memory.ts';
import { activeSession } from '../app/session/active-session.ts';
import type { LiveSessions } from '../app/session/live-sessions.ts';
import { openMemories } from '../memory/memories.ts';
import { SandboxEndpoint } from '../memory/sandbox-endpoint.ts';
import type { Sandbox } from '../model/sandbox.ts';
import { sandboxBank } from './bank-wiring.ts';
import type { Resources } from './resources.ts';

export function openLiveMemories(
  { home, config, store, report }: Pick<Resources, 'home' | 'config' | 'store' | 'report'>,
  outside: Pick<LiveMemoriesParts, 'headers' | 'releaseChroma'>,
): LiveMemories {
  return new LiveMemories({
    memories: openMemories(),
    folder: join(home.home, 'memory'),
    settings: () => config.memory,
    users: () => store.list('user').map(({ name }) => name),
    weights: () => installedAt(home.home, 'embeddings'),
    report,
    ...outside,
  });
}

interface SandboxParts extends Pick<Resources, 'store' | 'report'> {
  readonly liveMemories: LiveMemories;
  readonly liveSessions: LiveSessions;
  readonly liveBanks: LiveBanks;
}

export function openSandboxEndpoint(parts: SandboxParts): SandboxEndpoint {
  const { store, report, liveMemories, liveSessions } = parts;
  const sessionOf = (sandbox: Sandbox) => activeSession(liveSessions, sandbox);
  const tools = new SandboxMemory({
    ...{ report, liveMemories, sessionOf, tools: sandboxMemoryTools },
    find: (id) => store.get('sandbox', id)?.value ?? null,
  });
  return new SandboxEndpoint({ tools, bank: sandboxBank(parts, sessionOf) });
}
