/** Every command, in the order of `carrel help`. */
import { agent } from './agent/agent.ts';
import type { Area, CommandTable } from './cli.ts';
import { daemon } from './daemon/daemon.ts';
import { gettingStarted } from './getting-started/getting-started.ts';
import { hub } from './hub/hub.ts';
import { mcp } from './mcp/mcp.ts';
import { memory } from './memory/memory.ts';
import { network } from './network/network.ts';
import { room } from './room/room.ts';
import { sandbox } from './sandbox/sandbox.ts';
import { sessions } from './session/session.ts';
import { share } from './share/share.ts';
import { storage } from './storage/storage.ts';
import { swarm } from './swarm/swarm.ts';
import { workspace } from './workspace/workspace.ts';

export const areas: readonly Area[] = [
  daemon,
  agent,
  sandbox,
  workspace,
  sessions,
  swarm,
  storage,
  share,
  network,
  hub,
  room,
  memory,
  mcp,
  gettingStarted,
];

export const table: CommandTable = {
  commands: areas.flatMap(({ commands }) => commands),
  groups: areas.flatMap(({ groups = [] }) => groups),
  names: Object.assign({}, ...areas.map(({ names = {} }) => names)),
};
