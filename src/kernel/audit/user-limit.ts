/**
 * Limits how many lines one user can write: the log is bounded, and a user who acts in a loop would rotate the entries
 * of others out of it. Acts beyond the limit are only counted, and one line, `audit.folded`, has the count before the
 * next entry.
 */
import { Rate } from '../../lib/flow/rate.ts';
import type { Act, Audit, OpenAct } from './audit.ts';

export interface UserLimitOptions {
  readonly audit: Audit;
  /** The user without a limit. */
  readonly owner: string;
  /** Milliseconds of a clock that never goes back. */
  readonly clock: () => number;
}

const userLimit = { burst: 1000, perSecond: 1 };
/** The limit of all requests without a known token together. */
const unknownLimit = { burst: 10, perSecond: 1 / 60 };

export function limitPerUser({ audit, owner, clock }: UserLimitOptions): Audit {
  const [users, unknown] = [new Rate(userLimit, clock), new Rate(unknownLimit, clock)];
  const folded = new Map<string | null, number>();
  const begin = (act: Act, frees?: boolean): OpenAct => {
    if (act.user === owner) return audit.begin(act, frees);
    const { user } = act;
    const acts = folded.get(user) ?? 0;
    if ((user === null ? unknown.take('') : users.take(user)) > 0) {
      folded.set(user, acts + 1);
      return { end: () => {} };
    }
    if (acts > 0) writeFolded(audit, act, acts);
    folded.delete(user);
    return audit.begin(act, frees);
  };
  return { begin, read: (options) => audit.read(options), flush: () => audit.flush() };
}

function writeFolded(audit: Audit, { user, peer }: Act, acts: number): void {
  const act = { user, as: null, verb: 'audit.folded', targets: [], peer };
  audit.begin(act, true).end('ok', { detail: { acts } });
}
