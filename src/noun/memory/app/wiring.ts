/** Constructs what the memory needs. */
import { join } from 'node:path';
import type { ConfiguredKernel } from '../../../kernel/daemon/resources.ts';
import type { Sandbox } from '../../sandbox/model.ts';
import { activeSession, type Sessions } from '../../session/session.ts';
import { openMemories } from '../memories.ts';
import { SandboxEndpoint } from '../sandbox-endpoint.ts';
import type { LiveBanks } from './bank/live-banks.ts';
import { sandboxBank } from './bank/wiring.ts';
import { LiveMemories, type LiveMemoriesParts } from './live-memories.ts';
import { installedAt } from './packages.ts';
import { SandboxMemory } from './sandbox-memory.ts';
import { sandboxMemoryTools } from './tools.ts';

export function openLiveMemories(
  { home, config, store, report }: ConfiguredKernel,
  outside: Pick<LiveMemoriesParts, 'headers'>,
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

interface SandboxParts extends ConfiguredKernel {
  readonly liveMemories: LiveMemories;
  readonly liveSessions: Sessions;
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
