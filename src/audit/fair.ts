/**
 * Nobody but the owner can push what others did out of the log by doing much: each user has lines for a busy day, and what
 * goes beyond is counted and told in one line, `audit.folded`, with the next that may be written.
 */
import type { Act, Audit, Begun } from './audit.ts';

export interface FairOptions {
  readonly audit: Audit;
  /** Exempt. */
  readonly owner: string;
  /** Milliseconds of a clock that never goes back. */
  readonly clock: () => number;
}

interface Budget {
  readonly burst: number;
  readonly everyMs: number;
}

const ofUsers: Budget = { burst: 1000, everyMs: 1000 };
/** Those who show no token that is known here. */
const ofStrangers: Budget = { burst: 10, everyMs: 60_000 };

interface Account {
  left: number;
  at: number;
  folded: number;
}

export function fairAudit({ audit, owner, clock }: FairOptions): Audit {
  const accounts = new Map<string | null, Account>();
  const begin = (act: Act, frees?: boolean): Begun => {
    if (act.user === owner) return audit.begin(act, frees);
    const budget = act.user === null ? ofStrangers : ofUsers;
    const account = accounts.get(act.user) ?? { left: budget.burst, at: clock(), folded: 0 };
    accounts.set(act.user, account);
    refill(account, budget, clock());
    if (account.left < 1) return fold(account);
    account.left -= 1;
    if (account.folded > 0) tell(audit, act, account);
    return audit.begin(act, frees);
  };
  return { begin, read: (options) => audit.read(options), flush: () => audit.flush() };
}

function refill(account: Account, { burst, everyMs }: Budget, now: number): void {
  account.left = Math.min(burst, account.left + (now - account.at) / everyMs);
  account.at = now;
}

function fold(account: Account): Begun {
  account.folded += 1;
  return { end: () => {} };
}

function tell(audit: Audit, { user, peer }: Act, account: Account): void {
  const act = { user, as: null, verb: 'audit.folded', targets: [], peer };
  audit.begin(act, true).end('ok', { detail: { acts: account.folded } });
  account.folded = 0;
}
