/** Composes a launch from the contributions of all hooks. */

import type { Launch } from '../../../kernel/engine/engine.ts';
import type { Places } from '../../../kernel/home/places.ts';
import { configuredCommand } from '../../agent/mcp/configure.ts';
import { hooks } from '../../hooks.ts';
import { commandOf, networkEnv } from '../../network/launch.ts';
import type { Sandbox } from '../model.ts';
import type { HookAdditions, LaunchOptions } from './launch.ts';
import { prepareRoot } from './root.ts';

/** Mounts, environment and working directory of a sandbox, without preparing anything. */
export function launchAdditions(sandbox: Sandbox, places: Places): Required<HookAdditions> {
  const parts = hooks.map((hook) => hook.additions(sandbox, places));
  return {
    mounts: parts.flatMap((part) => part.mounts ?? []),
    env: Object.assign({}, ...parts.map((part) => part.env ?? {}), sandbox.spec.env, networkEnv(sandbox.spec)),
    cwd: sandbox.spec.cwd ?? parts.map((part) => part.cwd).findLast((cwd) => cwd !== undefined) ?? '/',
  };
}

/** Whether the account `agent` inside has the id of the owner of mounted host folders. */
export function actsAsOwner(sandbox: Sandbox, places: Places): boolean {
  const { mounts } = launchAdditions(sandbox, places);
  return sandbox.spec.asOwner || mounts.some((mount) => mount.kind !== 'tmpfs' && mount.mapOwner === true);
}

export async function composeLaunch(sandbox: Sandbox, options: LaunchOptions, places: Places): Promise<Launch> {
  for (const hook of hooks) hook.prepare?.(sandbox, places);
  const { spec } = sandbox;
  return {
    ...launchAdditions(sandbox, places),
    id: sandbox.id,
    hostname: sandbox.name,
    ...options,
    asOwner: spec.asOwner ?? false,
    runtime: spec.runtime,
    root: spec.image
      ? { kind: 'image', reference: spec.imageId ?? spec.image }
      : await prepareRoot(spec.rootfs, places),
    command: commandOf({ ...spec, command: configuredCommand(sandbox, places) }),
    limits: spec.limits,
    demanded: spec.strict ? spec.demanded : [],
    stdin: spec.stdin,
    terminal: spec.terminal ?? null,
  };
}
