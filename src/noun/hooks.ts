/** What nouns add to a sandbox before its start: mounts, environment, files. Later hooks override earlier ones; the spec overrides all. */

import { agentProgram } from './agent/launch.ts';
import { memory } from './memory/launch.ts';
import { credentials } from './network/credential/launch.ts';
import { network } from './network/launch.ts';
import { services } from './network/launch-services.ts';
import { folders } from './sandbox/launch/folders.ts';
import { grants } from './sandbox/launch/grants.ts';
import { identity } from './sandbox/launch/identity.ts';
import type { Hook } from './sandbox/launch/launch.ts';
import { programs } from './sandbox/launch/programs.ts';
import { system } from './sandbox/launch/system.ts';
import { secrets } from './user/secret/launch.ts';
import { workspace } from './workspace/launch.ts';

export const hooks: readonly Hook[] = [
  system,
  folders,
  identity,
  network,
  secrets,
  credentials,
  services,
  grants,
  memory,
  workspace,
  programs,
  agentProgram,
];
