/** The observed state of a sandbox, from the engine's report about its container. */
import type { ContainerInspectInfo } from 'dockerode';
import type { Limits } from '../../../model/limits.ts';
import type { Exit, Observed } from '../engine.ts';
import { exitFrom } from '../exit.ts';
import { type DockerHandle, readHandle, startedOf } from './handle.ts';
import { labels } from './naming.ts';

/** The handle of an earlier start under the same id does not find the running sandbox. */
export function observed(found: ContainerInspectInfo | null, handle: unknown): Observed {
  const known = readHandle(handle);
  if (found === null) return { kind: 'absent' };
  if (hasEnded(found)) return { kind: 'exited', exit: exitOf(found) };
  if (known !== null && known.container !== found.Id) return { kind: 'absent' };
  if (found.State.Status === 'created') return { kind: 'created' };
  if (found.State.Paused) return { kind: 'paused' };
  return { kind: 'running', started: startedOf(handleOf(found)) };
}

/** A container that is being removed, or could not be removed completely, counts as ended. */
function hasEnded({ State }: ContainerInspectInfo): boolean {
  return ['exited', 'dead', 'removing', 'stopped'].includes(State.Status);
}

function exitOf({ State }: ContainerInspectInfo): Exit {
  const { ExitCode: exitCode } = State;
  return exitFrom(exitCode, State.OOMKilled && exitCode !== 0);
}

export function handleOf(found: ContainerInspectInfo): DockerHandle {
  return {
    version: 1,
    container: found.Id,
    runtime: found.Config.Labels?.[labels.runtime] ?? found.HostConfig.Runtime ?? '',
    advisory: advisoryIn(found.Config.Labels?.[labels.advisory] ?? ''),
  };
}

export function advisoryLabel(advisory: readonly (keyof Limits)[]): string {
  return advisory.join(',');
}

function advisoryIn(text: string): (keyof Limits)[] {
  return text === '' ? [] : (text.split(',') as (keyof Limits)[]);
}
