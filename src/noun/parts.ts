/**
 * The parts of a sandbox that need nothing of the daemon, in the order in which they are called. What a later one adds takes
 * precedence over what an earlier one adds, and the spec over both.
 */

import { chroma } from '../extra/chroma/launch.ts';
import { agentProgram } from './agent/launch.ts';
import { configured } from './agent/mcp/configure.ts';
import { memory } from './memory/launch.ts';
import { credentials } from './network/credential/launch.ts';
import { network } from './network/launch.ts';
import { services } from './network/launch-services.ts';
import { folders } from './sandbox/launch/folders.ts';
import { grants } from './sandbox/launch/grants.ts';
import { identity } from './sandbox/launch/identity.ts';
import { programs } from './sandbox/launch/programs.ts';
import { system } from './sandbox/launch/system.ts';
import type { SandboxPart } from './sandbox/part/part.ts';
import { secrets } from './user/secret/launch.ts';
import { workspace } from './workspace/launch.ts';

export const parts: readonly SandboxPart[] = [
  system,
  folders,
  identity,
  configured,
  network,
  secrets,
  credentials,
  services,
  grants,
  memory,
  chroma,
  workspace,
  programs,
  agentProgram,
];
