/**
 * What nouns add to the model: their rows in the store, and the grants of sandboxes. Other tables are derived from
 * these.
 */

import type { User } from '../model/user.ts';
import type { Edit } from './hub/model/edit.ts';
import type { HubToken } from './hub/model/token.ts';
import type { Image } from './image/model.ts';
import { memoryGrantKind } from './memory/model/memory.ts';
import type { Credential } from './network/model/credential.ts';
import type { Trust } from './project/model/fleet-trust.ts';
import type { Project } from './project/model/project.ts';
import { roomGrantKind } from './room/model/grant.ts';
import type { RoomRecord } from './room/model/room.ts';
import type { RoomWatch } from './room/model/watch.ts';
import type { WebhookCounts } from './room/model/webhook.ts';
import { type Share, shareGrantKind } from './share/model.ts';
import type { Swarm, SwarmContainer } from './swarm/model/swarm.ts';
import { type Volume, volumeGrantKind } from './volume/model.ts';
import type { Allowance } from './workspace/model/allowance.ts';
import type { Apply } from './workspace/model/apply.ts';

/** Each kind of row and its value. Sandboxes, whose specs are made of grants, are in `kernel/store/store.ts`. */
export interface NounRows {
  user: User;
  apply: Apply;
  allowance: Allowance;
  volume: Volume;
  image: Image;
  swarm: Swarm;
  container: SwarmContainer;
  credential: Credential;
  trust: Trust;
  project: Project;
  edit: Edit;
  hubToken: HubToken;
  room: RoomRecord;
  roomWatch: RoomWatch;
  webhook: WebhookCounts;
  share: Share;
}

/** Each kind of grant, as `model/grant.ts` describes it, by the field of requests, specs and views. */
export const grantKinds = {
  volumes: volumeGrantKind,
  shares: shareGrantKind,
  rooms: roomGrantKind,
  memoryScopes: memoryGrantKind,
};

/** The grants that requests for the sandboxes of agents and swarms may contain, too. */
export const agentGrantFields = ['volumes', 'rooms', 'memoryScopes'] as const satisfies (keyof typeof grantKinds)[];
