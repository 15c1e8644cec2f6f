/** How a sandbox of this engine is found again, by another daemon after a crash. */
import type { ProcessRef } from '../../lib/process.ts';
import { Fault } from '../../model/fault.ts';
import type { Limits } from '../../model/limits.ts';

export interface LocalHandle {
  readonly version: 1;
  readonly runtime: string;
  readonly advisory: readonly (keyof Limits)[];
  /** First process of the sandbox, and the conmon that keeps it. */
  readonly init: ProcessRef;
  readonly keeper: ProcessRef;
}

export function readHandle(handle: unknown): LocalHandle | null {
  if (handle === null || handle === undefined) return null;
  if (typeof handle === 'object' && (handle as LocalHandle).version === 1) return handle as LocalHandle;
  throw new Fault('corrupt', 'a sandbox was recorded by another version of the local engine');
}
