/**
 * Constructs the nouns that have parts of their own, for all users and for one user. Each is constructed in its
 * NOUN-wiring.ts and joined here. A part that needs a later part gets it as a function and calls it only when used.
 */

import { releasePlace } from '../../extra/chroma/app/place.ts';
import { openChroma } from '../../extra/chroma/app/wiring.ts';
import type { Actor } from '../../model/user.ts';
import type { Scope } from '../../noun/app.ts';
import { bankData, bankOf, openLiveBanks } from '../../noun/memory/app/bank/wiring.ts';
import { memoryGrants } from '../../noun/memory/app/memory-grants.ts';
import { chromaServices, memoryServices, memorySocket, requiresMemory } from '../../noun/memory/app/services.ts';
import { UserMemory } from '../../noun/memory/app/user-memory.ts';
import { openLiveMemories, openSandboxEndpoint } from '../../noun/memory/app/wiring.ts';
import { credentialHeaders } from '../../noun/network/app/credential/header.ts';
import type { DeclaredService } from '../../noun/network/model/service.ts';
import { openRoomParts, openWatchers, roomsOf, watchesOf } from '../../noun/room/app/wiring.ts';
import type { NounData } from '../../noun/sandbox/app/data.ts';
import type { Sandboxes } from '../../noun/sandbox/app/sandboxes.ts';
import type { Granting } from '../../noun/sandbox/app/spec.ts';
import type { Sandbox, SandboxSpec } from '../../noun/sandbox/model.ts';
import type { LiveSessions } from '../../noun/session/app/live-sessions.ts';
import { type ShareWiring, sharesOf } from '../../noun/share/app/wiring.ts';
import type { UserSecrets } from '../../noun/user/app/secret/secrets.ts';
import type { Secrets } from '../../noun/user/secret/secret.ts';
import type { UserVolumes } from '../../noun/volume/app/volumes.ts';
import type { Volumes } from '../../noun/volume/volumes.ts';
import type { EngineOf } from '../engine/engine.ts';
import type { Resources } from './resources.ts';

export type Nouns = ReturnType<typeof openNouns>;

interface OpenedBefore {
  readonly secrets: Secrets;
  readonly volumes: Volumes;
  readonly agentOf: (user: string) => number | null;
}

/** Called once in a daemon. */
export function openNouns(resources: Resources, { secrets, volumes, agentOf }: OpenedBefore) {
  const { store, owner, home, config } = resources;
  const rooms = openRoomParts(resources, secrets);
  const headers = credentialHeaders({ store, owner, secrets });
  const chroma = openChroma({ ...resources, volumes, headers });
  const liveMemories = openLiveMemories(resources, {
    headers,
    releaseChroma: (sandbox) => releasePlace(resources, chroma, sandbox),
  });
  const liveBanks = openLiveBanks(resources, agentOf);
  return {
    parts: { ...rooms, chroma, liveMemories, liveBanks },
    data: [rooms.sandboxRooms, bankData(liveBanks), liveMemories] as readonly NounData[],
    /** The services at ports of a sandbox. */
    services: (sandbox: Sandbox): DeclaredService[] => [
      ...memoryServices(home.home, sandbox),
      ...chromaServices(home.home, config.memory, sandbox),
    ],
    /** Whether the sandbox must not start without these services. */
    requiresServices: ({ spec }: Sandbox): boolean => requiresMemory(spec),
    /** `settled` resolves when all sandboxes are observed. */
    start: (settled: Promise<unknown>): void => {
      liveMemories.start();
      void settled.then(() => liveBanks.start());
      chroma.start();
    },
    /** Called when config.yaml was read again. */
    settingsChanged: (): void => chroma.refresh(),
    dispose: async (): Promise<void> => {
      await rooms.liveRooms.dispose();
      await chroma.dispose();
      await liveMemories.dispose();
      await liveBanks.dispose();
    },
  };
}

export type ScopedNouns = ReturnType<typeof openScopedNouns>;

type Opened = Resources & Nouns['parts'] & { readonly secrets: Secrets; readonly engineOf: EngineOf };

/** Called once in a daemon: opens the parts that act for users, through their scopes. */
export function openScopedNouns(opened: Opened, scopeOf: (user: string) => Scope, liveSessions: LiveSessions) {
  const watchers = openWatchers(opened, scopeOf);
  const memoryEndpoint = openSandboxEndpoint({ ...opened, liveSessions });
  return {
    parts: { watchers },
    /** Opens the sockets that sandboxes reach. */
    listen: (): Promise<void> => memoryEndpoint.listen(memorySocket(opened.home.home)),
    /** Called while the daemon still answers. */
    stop: (): Promise<void> => watchers.dispose(),
    dispose: (): void => memoryEndpoint.close(),
  };
}

interface UserParts {
  readonly secrets: UserSecrets;
  readonly volumes: UserVolumes;
  readonly sandboxes: () => Sandboxes;
  /** The account whose folders the user may share. */
  readonly account: () => number | null | 'any';
}

type Shared = Resources & Nouns['parts'] & ScopedNouns['parts'] & ShareWiring & { readonly volumes: Volumes };

/** For one user: the parts that handlers use, and how a request becomes the grants in the spec of a sandbox. */
export function nounsOf(actor: Actor, shared: Shared, { secrets, volumes, sandboxes, account }: UserParts) {
  const { sandboxShares, ...sharing } = sharesOf(actor, shared, account);
  const granting: Granting = {
    volumes: (request) => volumes.mounts(request.volumes),
    shares: (request, project) => sandboxShares.mounts(actor.name, request, project),
    rooms: ({ rooms = [] }) => {
      if (rooms.length > 0) volumes.requireMountable();
      return shared.sandboxRooms.grants(actor.name, rooms);
    },
    memoryScopes: memoryGrants,
  };
  return {
    scope: {
      ...sharing,
      rooms: roomsOf(actor, shared),
      webhooks: { of: (room: string) => (actor.isOwner ? shared.webhooks.of(room) : []) },
      watches: watchesOf(actor, { ...shared, sandboxes, secrets }),
      memory: new UserMemory({ ...shared, user: actor.name }),
      bank: bankOf(actor, shared),
    },
    granting,
    requireShares: (spec: SandboxSpec) => sandboxShares.require(spec),
  };
}
