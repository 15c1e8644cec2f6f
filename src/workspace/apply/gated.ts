/** The gates on one path. What a gate let through by its content is that content, whatever the agent writes meanwhile. */
import { createHash } from 'node:crypto';
import type { BytePath } from '../../model/byte-path.ts';
import type { Reader } from '../tree/reader.ts';
import { type Verdict, verdictOf } from './gate.ts';
import type { GateContext } from './gate-context.ts';
import type { PathState } from './planned-project.ts';

export interface Judged extends Verdict {
  /** To be put instead of what was asked about. */
  readonly after: PathState | null;
}

export function judge(
  reader: Reader,
  path: BytePath,
  before: PathState | null,
  after: PathState | null,
  gateContext: GateContext,
): Judged {
  let read: Uint8Array | null = null;
  const bytesOf = (standing: PathState | null, maxBytes: number) =>
    (standing?.source && reader.read(standing.source, maxBytes)) ?? null;
  const verdict = verdictOf(
    { path, before: before?.entry ?? null, after: after?.entry ?? null },
    {
      before: (maxBytes) => bytesOf(before, maxBytes),
      // Once: what is judged is what is taken.
      after: (maxBytes) => {
        read ??= bytesOf(after, maxBytes);
        return read;
      },
    },
    gateContext,
  );
  return { ...verdict, after: after && pinned(after, read) };
}

/** By a hash, which is small however many files there are: content that is another when it is taken is refused then. */
function pinned(standing: PathState, bytes: Uint8Array | null): PathState {
  if (bytes === null) return standing;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { ...standing, entry: { ...standing.entry, sizeBytes: bytes.length }, sha256 };
}
