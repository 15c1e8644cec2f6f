/** Every command, in the order of `carrel help`. */

import type { Area, CommandTable } from '../client/cli.ts';
import { agent } from './agent/cli/cli.ts';
import { mcp } from './agent/cli/mcp.ts';
import { hub } from './hub/cli/cli.ts';
import { image } from './image/cli/cli.ts';
import { daemon } from './installation/cli/cli.ts';
import { gettingStarted } from './installation/cli/getting-started.ts';
import { memory } from './memory/cli/cli.ts';
import { network } from './network/cli/cli.ts';
import { project } from './project/cli/cli.ts';
import { room } from './room/cli/cli.ts';
import { sandbox } from './sandbox/cli/cli.ts';
import { sessions } from './session/cli/cli.ts';
import { share } from './share/cli/cli.ts';
import { swarm } from './swarm/cli/cli.ts';
import { user } from './user/cli/cli.ts';
import { volume } from './volume/cli/cli.ts';
import { workspace } from './workspace/cli/cli.ts';

export const areas: readonly Area[] = [
  daemon,
  agent,
  sandbox,
  workspace,
  sessions,
  swarm,
  volume,
  user,
  image,
  project,
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
