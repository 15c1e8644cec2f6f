/** The gates on one path. What a gate let through by its content is that content, whatever the agent writes meanwhile. */
import { createHash } from 'node:crypto';
import type { BytePath } from '../../model/byte-path.ts';
import type { GateKind } from '../../model/change.ts';
import type { Reader } from '../tree/reader.ts';
import { gatesOf } from './gate.ts';
import type { GateGround } from './gate-ground.ts';
import type { Standing } from './ours.ts';

/** Larger files are gated without a look inside. */
export const maxGateBytes = 1024 * 1024;

export interface Judged {
  readonly gates: GateKind[];
  /** To be put instead of what was asked about. */
  readonly after: Standing | null;
}

export function judge(
  reader: Reader,
  path: BytePath,
  before: Standing | null,
  after: Standing | null,
  ground: GateGround,
): Judged {
  let read: Uint8Array | null = null;
  const bytesOf = (standing: Standing | null) => standing?.source && reader.read(standing.source, maxGateBytes);
  const gates = gatesOf(
    { path, before: before?.entry ?? null, after: after?.entry ?? null },
    {
      before: () => bytesOf(before) ?? null,
      after: () => {
        read = bytesOf(after) ?? null;
        return read;
      },
    },
    ground,
  );
  return { gates, after: after && pinned(after, read) };
}

/** By a hash, which is small however many files there are: content that is another when it is taken is refused then. */
function pinned(standing: Standing, bytes: Uint8Array | null): Standing {
  if (bytes === null) return standing;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { ...standing, entry: { ...standing.entry, sizeBytes: bytes.length }, sha256 };
}
