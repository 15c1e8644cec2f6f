/**
 * Launching turns the record of a sandbox into a `Launch`, the value that an engine starts. What is in it comes from the
 * parts of the sandbox (`sandbox/part/part.ts`), in the order of their table.
 *
 * `launchAdditions` changes nothing and needs no daemon, so callers may ask at any time what a sandbox sees. `composeLaunch` runs
 * at every start and prepares what parts without a daemon need; those of the daemon were prepared before.
 */
import type { Launch } from '../../../kernel/engine/engine.ts';
import type { Places } from '../../../kernel/home/places.ts';
import { parts } from '../../parts.ts';
import type { Sandbox, SandboxSpec } from '../model.ts';
import type { PartAdditions } from '../part/part.ts';
import { prepareRoot } from './root.ts';

/** Facts about a start that are not in the record. */
export interface LaunchOptions {
  /** The number of the user. */
  readonly slot: number;
  readonly console: boolean;
  readonly held: Launch['held'];
}

type Variables = Readonly<Record<string, string>>;

/** Mounts, environment and working directory of a sandbox, without preparing anything. */
export function launchAdditions(sandbox: Sandbox, places: Places): Required<PartAdditions> {
  const { spec } = sandbox;
  const added = parts.map((part) => part.additions?.(sandbox, places) ?? {});
  return {
    mounts: added.flatMap((one) => one.mounts ?? []),
    env: Object.assign({}, ...added.map((one) => one.env ?? {}), spec.env, commandEnv(spec)),
    cwd: spec.cwd ?? added.map((one) => one.cwd).findLast((cwd) => cwd !== undefined) ?? '/',
  };
}

/** The variables of a command inside; `given`: those that only this command has. */
export function commandEnv(spec: SandboxSpec, given: Variables = {}): Variables {
  return parts.reduce((env, part) => part.commandEnv?.(spec, env) ?? env, given);
}

/** Whether the account `agent` inside has the id of the owner of mounted host folders. */
export function actsAsOwner(sandbox: Sandbox, places: Places): boolean {
  const { mounts } = launchAdditions(sandbox, places);
  return sandbox.spec.asOwner || mounts.some((mount) => mount.kind !== 'tmpfs' && mount.mapOwner === true);
}

export async function composeLaunch(sandbox: Sandbox, options: LaunchOptions, places: Places): Promise<Launch> {
  for (const part of parts) await part.prepare?.(sandbox, places, () => {});
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
    command: parts.reduce((command, part) => part.command?.(sandbox, places, command) ?? command, spec.command),
    limits: spec.limits,
    demanded: spec.strict ? spec.demanded : [],
    stdin: spec.stdin,
    terminal: spec.terminal ?? null,
  };
}
