/**
 * Checks the gates on one path. The apply takes exactly the content that a gate has checked, whatever the agent writes
 * meanwhile.
 */
import { createHash } from 'node:crypto';
import type { BytePath } from '../../../../model/byte-path.ts';
import type { Reader } from '../../tree/reader.ts';
import type { PathState } from '../plan/planned-project.ts';
import { type GateVerdict, verdictOf } from './gate.ts';
import type { GateContext } from './gate-context.ts';

export interface GateResult extends GateVerdict {
  /** The state that was checked and that goes into the project. */
  readonly after: PathState | null;
}

export function checkGates(
  reader: Reader,
  path: BytePath,
  before: PathState | null,
  after: PathState | null,
  gateContext: GateContext,
): GateResult {
  let read: Uint8Array | null = null;
  const bytesOf = (state: PathState | null, maxBytes: number) =>
    (state?.source && reader.read(state.source, maxBytes)) ?? null;
  const verdict = verdictOf(
    { path, before: before?.entry ?? null, after: after?.entry ?? null },
    {
      before: (maxBytes) => bytesOf(before, maxBytes),
      // Read only once: the apply takes the content that was checked.
      after: (maxBytes) => {
        read ??= bytesOf(after, maxBytes);
        return read;
      },
    },
    gateContext,
  );
  return { ...verdict, after: after && pinned(after, read) };
}

/** Keeps the hash of the checked content, since hashes fit in memory: staging refuses content with another hash. */
function pinned(state: PathState, bytes: Uint8Array | null): PathState {
  if (bytes === null) return state;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { ...state, entry: { ...state.entry, sizeBytes: bytes.length }, sha256 };
}
