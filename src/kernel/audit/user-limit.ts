/**
 * Limits how many lines one user can write: the log is bounded, and a user who acts in a loop would rotate the entries
 * of others out of it. Acts beyond the limit are only counted, and one line, `audit.folded`, has the count before the
 * next entry.
 */
import type { Act, Audit, OpenAct } from './audit.ts';

export interface UserLimitOptions {
  readonly audit: Audit;
  /** The user without a limit. */
  readonly owner: string;
  /** Milliseconds of a clock that never goes back. */
  readonly clock: () => number;
}

/** A token bucket. */
interface Limit {
  readonly burst: number;
  readonly everyMs: number;
}

const userLimit: Limit = { burst: 1000, everyMs: 1000 };
/** The limit of all requests without a known token together. */
const unknownLimit: Limit = { burst: 10, everyMs: 60_000 };

interface Bucket {
  left: number;
  at: number;
  folded: number;
}

export function limitPerUser({ audit, owner, clock }: UserLimitOptions): Audit {
  const buckets = new Map<string | null, Bucket>();
  const begin = (act: Act, frees?: boolean): OpenAct => {
    if (act.user === owner) return audit.begin(act, frees);
    const limit = act.user === null ? unknownLimit : userLimit;
    const bucket = buckets.get(act.user) ?? { left: limit.burst, at: clock(), folded: 0 };
    buckets.set(act.user, bucket);
    refill(bucket, limit, clock());
    if (bucket.left < 1) return fold(bucket);
    bucket.left -= 1;
    if (bucket.folded > 0) writeFolded(audit, act, bucket);
    return audit.begin(act, frees);
  };
  return { begin, read: (options) => audit.read(options), flush: () => audit.flush() };
}

function refill(bucket: Bucket, { burst, everyMs }: Limit, now: number): void {
  bucket.left = Math.min(burst, bucket.left + (now - bucket.at) / everyMs);
  bucket.at = now;
}

function fold(bucket: Bucket): OpenAct {
  bucket.folded += 1;
  return { end: () => {} };
}

function writeFolded(audit: Audit, { user, peer }: Act, bucket: Bucket): void {
  const act = { user, as: null, verb: 'audit.folded', targets: [], peer };
  audit.begin(act, true).end('ok', { detail: { acts: bucket.folded } });
  bucket.folded = 0;
}
