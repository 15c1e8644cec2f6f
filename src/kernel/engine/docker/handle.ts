/** The JSON by which another daemon finds a sandbox of this engine after a crash. */
import { Fault } from '../../../model/fault.ts';
import type { Limits } from '../../../model/limits.ts';
import type { Started } from '../engine.ts';

export interface DockerHandle {
  readonly version: 1;
  readonly container: string;
  readonly runtime: string;
  readonly advisory: readonly (keyof Limits)[];
}

export function readHandle(handle: unknown): DockerHandle | null {
  if (handle === null || handle === undefined) return null;
  if (typeof handle === 'object' && (handle as DockerHandle).version === 1) return handle as DockerHandle;
  throw new Fault('corrupt', 'the record of this sandbox is of another version of the docker engine');
}

export function startedOf(handle: DockerHandle): Started {
  return { handle, runtime: handle.runtime, advisory: handle.advisory };
}
