/** The volumes of a sandbox: those of its user exist before it starts, and records say when each was last used. */
import type { SandboxPart } from '../../sandbox/part/part.ts';
import type { Volumes } from '../volumes.ts';
import { useVolumes } from './user-volumes.ts';

export function volumePart(
  volumes: Pick<Volumes, 'init' | 'touch'>,
  prefix: () => string,
  now: () => string,
): SandboxPart {
  return { prepare: (sandbox) => useVolumes(volumes, sandbox, prefix(), now()) };
}
