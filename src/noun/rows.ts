/** Each kind of row in the store and its value. A noun adds a line for each kind of its rows. */

import type { User } from '../model/user.ts';
import type { Edit } from './hub/model/edit.ts';
import type { HubToken } from './hub/model/token.ts';
import type { Image } from './image/model.ts';
import type { Credential } from './network/model/credential.ts';
import type { Trust } from './project/model/fleet-trust.ts';
import type { Project } from './project/model/project.ts';
import type { RoomRecord } from './room/model/room.ts';
import type { RoomWatch } from './room/model/watch.ts';
import type { WebhookCounts } from './room/model/webhook.ts';
import type { Sandbox } from './sandbox/model.ts';
import type { Share } from './share/model.ts';
import type { Swarm, SwarmContainer } from './swarm/model/swarm.ts';
import type { Volume } from './volume/model.ts';
import type { Allowance } from './workspace/model/allowance.ts';
import type { Apply } from './workspace/model/apply.ts';

export interface NounRows {
  sandbox: Sandbox;
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
