/** The JSON by which another daemon finds a sandbox of this engine after a crash. */
import type { ProcessRef } from '../../../lib/process/process.ts';
import { Fault } from '../../../model/fault.ts';
import type { Limits } from '../../../model/limits.ts';

export interface LocalHandle {
  readonly version: 1;
  readonly runtime: string;
  readonly advisory: readonly (keyof Limits)[];
  /** The first process of the sandbox, and its conmon. */
  readonly init: ProcessRef;
  readonly keeper: ProcessRef;
}

export function readHandle(handle: unknown): LocalHandle | null {
  if (handle === null || handle === undefined) return null;
  if (typeof handle === 'object' && (handle as LocalHandle).version === 1) return handle as LocalHandle;
  throw new Fault('corrupt', 'the record of this sandbox is of another version of the local engine');
}
