/**
 * Constructs the nouns that have parts of their own, for all users and for one user. Each is constructed in its
 * NOUN-wiring.ts and joined here. A part that needs a later part gets it as a function and calls it only when used.
 */

import { chromaPart, tenantOf } from '../../extra/chroma/app/part.ts';
import { openChroma } from '../../extra/chroma/app/wiring.ts';
import type { Actor } from '../../model/user.ts';
import type { Scope } from '../../noun/app.ts';
import { bankPart } from '../../noun/memory/app/bank/part.ts';
import { bankOf, openLiveBanks } from '../../noun/memory/app/bank/wiring.ts';
import { memoryGrants } from '../../noun/memory/app/memory-grants.ts';
import { memoryPart } from '../../noun/memory/app/part.ts';
import { memorySocket } from '../../noun/memory/app/services.ts';
import { UserMemory, type UserMemoryParts } from '../../noun/memory/app/user-memory.ts';
import { openLiveMemories, openSandboxEndpoint } from '../../noun/memory/app/wiring.ts';
import { credentialHeaders } from '../../noun/network/app/credential/header.ts';
import { roomPart } from '../../noun/room/app/part.ts';
import { openRoomParts, openWatchers, roomsOf, watchesOf } from '../../noun/room/app/wiring.ts';
import type { SandboxRequest } from '../../noun/sandbox/api.ts';
import type { SandboxSpec } from '../../noun/sandbox/model.ts';
import type { Granting, SandboxPart } from '../../noun/sandbox/part/part.ts';
import type { Sandboxes } from '../../noun/sandbox/sandbox.ts';
import type { Sessions } from '../../noun/session/session.ts';
import { type ShareWiring, sharesOf } from '../../noun/share/app/wiring.ts';
import type { UserSecrets } from '../../noun/user/app/secret/user-secrets.ts';
import type { Secrets } from '../../noun/user/secret/secret.ts';
import type { UserVolumes } from '../../noun/volume/app/user-volumes.ts';
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
  const { store, owner, home, config, report } = resources;
  const rooms = openRoomParts(resources, secrets);
  const headers = credentialHeaders({ store, owner, secrets });
  const chroma = openChroma({ ...resources, volumes, headers });
  const liveMemories = openLiveMemories(resources, { headers });
  const liveBanks = openLiveBanks(resources, agentOf);
  return {
    parts: { ...rooms, chroma, liveMemories, liveBanks },
    sandboxParts: [
      roomPart(rooms.sandboxRooms),
      bankPart(liveBanks),
      memoryPart(home.home, liveMemories),
      chromaPart({ home, config, chroma, report }),
    ] as readonly SandboxPart[],
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
export function openScopedNouns(opened: Opened, scopeOf: (user: string) => Scope, liveSessions: Sessions) {
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
  const { grants: shareGrants, ...sharing } = sharesOf(actor, shared, account);
  const granting: Granting<SandboxRequest> = {
    volumes: (request) => volumes.mounts(request.volumes),
    shares: (request, project) => shareGrants.mounts(actor.name, request, project),
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
      memory: new UserMemory({ ...shared, user: actor.name, chroma: chromaOf(shared) }),
      bank: bankOf(actor, shared),
    },
    granting,
    requireShares: (spec: SandboxSpec) => shareGrants.require(spec),
  };
}

function chromaOf(shared: Shared): UserMemoryParts['chroma'] {
  const { chroma } = shared;
  return { status: () => chroma.status(), erase: (user) => chroma.erase(tenantOf(shared, user)) };
}
