/** Constructs what the memory needs. */
import { join } from 'node:path';
import type { LiveBanks } from '../app/bank/live-banks.ts';
import { credentialsOf } from '../app/credential/credentials.ts';
import { sandboxMemoryTools } from '../app/hub/tool/memory.ts';
import { CallerMemory, type CallerParts, type Reach } from '../app/memory/caller-memory.ts';
import type { RemoteSettings } from '../app/memory/config.ts';
import { LiveMemories, type LiveMemoriesParts } from '../app/memory/live-memories.ts';
import { SandboxMemory } from '../app/memory/sandbox-memory.ts';
import { UserMemory } from '../app/memory/user-memory.ts';
import type { LiveSessions } from '../app/session/live-sessions.ts';
import type { Chroma, ChromaStatus } from '../chroma/chroma.ts';
import { type Caller, socketCaller } from '../hub/hub.ts';
import { openMemories } from '../memory/memories.ts';
import { SandboxEndpoint } from '../memory/sandbox-endpoint.ts';
import { bankGrant } from '../model/bank.ts';
import { headerValue } from '../model/credential.ts';
import { asFault, Fault } from '../model/fault.ts';
import { type MemoryScope, memoryPort, type Writer } from '../model/memory.ts';
import type { Project } from '../model/project.ts';
import type { Sandbox, SandboxSpec } from '../model/sandbox.ts';
import type { DeclaredService } from '../model/service.ts';
import type { Actor } from '../model/user.ts';
import type { Secrets } from '../secret/secret.ts';
import { sandboxBank } from './bank-wiring.ts';
import { installedAt, tenantOf } from './chroma-wiring.ts';
import type { Resources } from './resources.ts';

export function openLiveMemories(
  { home, config, store, owner, report }: Pick<Resources, 'home' | 'config' | 'store' | 'owner' | 'report'>,
  { secrets, releaseChroma }: { readonly secrets: Secrets } & Pick<LiveMemoriesParts, 'releaseChroma'>,
): LiveMemories {
  return new LiveMemories({
    memories: openMemories(),
    folder: join(home.home, 'memory'),
    settings: () => config.memory,
    users: () => store.list('user').map(({ name }) => name),
    headers: credentialHeaders({ store, owner, secrets }),
    weights: () => installedAt(home.home, 'embeddings'),
    releaseChroma,
    report,
  });
}

interface HeaderParts extends Pick<Resources, 'store' | 'owner'> {
  readonly secrets: Secrets;
}

/** Sends the key of a credential only to the host that the credential is for. */
export function credentialHeaders(parts: HeaderParts): (settings: RemoteSettings) => Readonly<Record<string, string>> {
  return (settings) => headersOf(settings, parts);
}

function headersOf({ url, credential }: RemoteSettings, { store, owner, secrets }: HeaderParts) {
  if (credential === null) return {};
  const { hostname, port, protocol } = new URL(url);
  const isPlain = protocol === 'http:';
  const asked = port === '' ? (isPlain ? 80 : 443) : Number(port);
  const found = credentialsOf(store, owner).find(({ name }) => name === credential);
  const service = found?.services.find(
    (one) => one.host === hostname && one.port === asked && (one.scheme === 'http') === isPlain,
  );
  if (found === undefined || service === undefined) {
    throw new Fault('denied', `the credential ${credential} is not for ${url}`, { hint: 'See: carrel credential ls' });
  }
  return { [service.header]: headerValue(service, found.secret, secrets.read(owner, found.secret)) };
}

/** A sandbox with only the memory bank starts without the endpoint, because it has the bank's files anyway. */
export function requiresMemory(spec: SandboxSpec): boolean {
  return (spec.memoryScopes?.length ?? 0) > 0;
}

/** The port of the memory in sandboxes that have a memory scope or the memory bank. */
export function memoryServices({ home }: Pick<Resources, 'home'>, { spec }: Sandbox): DeclaredService[] {
  if (!requiresMemory(spec) && bankGrant(spec) === null) return [];
  return [{ name: 'memory', port: memoryPort, to: memorySocket(home.home), identity: 'headers' }];
}

export function memorySocket(home: string): string {
  return join(home, 'memory.sock');
}

interface EndpointParts extends Pick<Resources, 'store' | 'report'> {
  readonly liveMemories: LiveMemories;
}

interface SandboxParts extends EndpointParts {
  readonly liveSessions: LiveSessions;
  readonly liveBanks: LiveBanks;
}

/** The only session of a sandbox that has a turn; null: none has one, or several have. */
export async function activeSession(
  sessions: Pick<LiveSessions, 'has' | 'of'>,
  sandbox: Sandbox,
): Promise<string | null> {
  if (!sessions.has(sandbox)) return null;
  const active = (await sessions.of(sandbox)).copies.list().filter(({ fold }) => fold.turns.length > 0);
  return active.length === 1 ? active[0]!.id : null;
}

export function openSandboxEndpoint(parts: SandboxParts): SandboxEndpoint {
  const { store } = parts;
  const sessionOf = (sandbox: Sandbox) => activeSession(parts.liveSessions, sandbox);
  const tools = new SandboxMemory({
    find: (id) => store.get('sandbox', id)?.value ?? null,
    tools: sandboxMemoryTools,
    sessionOf,
    memoryOf: ({ spec }: Sandbox, writer, reach) => callerMemory(parts, spec.user, { writer, reach, via: 'sandbox' }),
  });
  return new SandboxEndpoint({ tools, bank: sandboxBank(parts, sessionOf) });
}

function callerMemory(
  { liveMemories, report }: Pick<EndpointParts, 'liveMemories' | 'report'>,
  user: string,
  caller: Pick<CallerParts, 'writer' | 'reach' | 'via'>,
): CallerMemory {
  return new CallerMemory({
    ...caller,
    open: () => liveMemories.open(user),
    embedder: () => liveMemories.embedder(),
    nowMs: () => Date.now(),
    report: (error) => report(`memory of ${user}`, asFault(error)),
  });
}

interface UserParts
  extends Pick<EndpointParts, 'liveMemories' | 'report'>,
    Pick<Resources, 'home' | 'config' | 'store'> {
  readonly chroma: Pick<Chroma, 'status' | 'erase'>;
}

export function memoryOf({ name: user }: Actor, parts: UserParts): UserMemory {
  const { store, config, liveMemories, chroma } = parts;
  return new UserMemory({
    open: () => liveMemories.open(user),
    quotaBytes: () => config.memory.limits.totalBytes,
    model: () => config.memory.embedding?.model ?? null,
    chroma: (): ChromaStatus | null => (config.memory.chroma === null ? null : chroma.status()),
    eraseChroma: () => chroma.erase(tenantOf(parts, user)),
    sandboxId: (name) => {
      const row = store.find('sandbox', user, name);
      if (row === null) throw new Fault('not_found', `no sandbox ${name}`, { hint: 'See: carrel ls' });
      return row.id;
    },
    memoryOf: (via, reach) => callerMemory(parts, user, { writer: person(user), reach, via }),
  });
}

export interface HubMemoryParts extends Pick<EndpointParts, 'liveMemories' | 'report'> {
  readonly projects: () => readonly Project[];
}

/** The memory for a caller of the hub: the user, or a token. */
export function hubMemory({ name: user }: Actor, caller: Caller, parts: HubMemoryParts): CallerMemory {
  const isUser = caller.name === socketCaller.name;
  const token: Writer = { kind: 'token', name: caller.name, id: caller.name, agent: null, session: null };
  const reach = hubReach(caller, parts.projects);
  return callerMemory(parts, user, { writer: isUser ? person(user) : token, reach, via: 'hub' });
}

function person(name: string): Writer {
  return { kind: 'person', name, id: null, agent: null, session: null };
}

/** A token for some projects reaches only the scopes of these projects. */
function hubReach(caller: Caller, projects: () => readonly Project[]): Reach {
  const named = projects().filter(({ id }) => caller.projects === '*' || caller.projects.includes(id));
  const scopeOf = ({ folder }: Project): MemoryScope => `project:${folder}`;
  const scopes = caller.projects === '*' ? null : named.map(scopeOf);
  const find = (place: string): MemoryScope => {
    const found = named.find(({ id }) => id === place);
    if (found !== undefined) return scopeOf(found);
    // A request to forget a note names the scope itself.
    const isScope = place === 'user' || place.includes(':');
    if (isScope && (scopes === null || scopes.includes(place as MemoryScope))) return place as MemoryScope;
    throw new Fault('not_found', `no project ${place}`, { hint: 'See: carrel project ls' });
  };
  return {
    readable: (place) => (place === undefined ? scopes : [find(place)]),
    writable: (place) => {
      if (place !== undefined) return find(place);
      if (scopes === null) return 'user';
      throw new Fault('denied', 'this token is for some projects only: name one of them');
    },
  };
}
