/**
 * What nouns add to the model: their rows in the store, and the grants of sandboxes. Other tables are derived from
 * these.
 */
import type { Allowance } from './allowance.ts';
import type { Apply } from './apply.ts';
import type { Credential } from './credential.ts';
import type { Edit } from './edit.ts';
import type { HubToken } from './hub-token.ts';
import type { Image } from './image.ts';
import { memoryGrantKind } from './memory.ts';
import type { Project } from './project.ts';
import type { RoomRecord } from './room.ts';
import { roomGrantKind } from './room-grant.ts';
import type { RoomWatch } from './room-watch.ts';
import { type Share, shareGrantKind } from './share.ts';
import type { Swarm, SwarmContainer } from './swarm.ts';
import type { Trust } from './trust.ts';
import type { User } from './user.ts';
import { type Volume, volumeGrantKind } from './volume.ts';
import type { WebhookCounts } from './webhook.ts';

/** Each kind of row and its value. Sandboxes, whose specs are made of grants, are in `store/store.ts`. */
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

/** Each kind of grant, as `grant.ts` describes it, by the field of requests, specs and views. */
export const grantKinds = {
  volumes: volumeGrantKind,
  shares: shareGrantKind,
  rooms: roomGrantKind,
  memoryScopes: memoryGrantKind,
};

/** The grants that requests for the sandboxes of agents and swarms may contain, too. */
export const agentGrantFields = ['volumes', 'rooms', 'memoryScopes'] as const satisfies (keyof typeof grantKinds)[];
