/** A session as clients see it, at port 3002 and in the daemon. */

import type { EventData, SessionState } from './session.ts';
import type { OpenQuestion, SessionFold } from './session-fold.ts';

export interface SessionSummary {
  readonly sessionId: string;
  readonly sandbox: string;
  readonly agent: string;
  readonly cwd: string;
  readonly title: string | null;
  readonly state: SessionState;
  /** Why the session is `failed`, or why its last turn did not end normally; null while a turn is in progress. */
  readonly reason: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly seq: number;
  readonly turnId: string | null;
  readonly queued: number;
  readonly pending: readonly OpenQuestion[];
  readonly modes: SessionFold['modes'];
  readonly models: SessionFold['models'];
  readonly forkedFrom: NonNullable<EventData['session.created']['forkedFrom']> | null;
}

export function summaryOf(sessionId: string, sandbox: string, fold: SessionFold): SessionSummary {
  const { agent, cwd, title, state, createdAt, updatedAt, seq, modes, models, turns, questions, forkedFrom } = fold;
  return {
    ...{ sessionId, sandbox, agent, cwd, title, state, createdAt, updatedAt, seq, modes, models },
    reason: reasonOf(fold),
    turnId: turns[0]?.turnId ?? null,
    queued: Math.max(0, turns.length - 1),
    pending: questions,
    forkedFrom: forkedFrom ?? null,
  };
}

function reasonOf({ failure, lastEnd, turns }: SessionFold): string | null {
  if (failure !== null) return failure;
  if (turns.length > 0 || lastEnd === null || lastEnd.stopReason === 'end_turn') return null;
  return lastEnd.reason ?? lastEnd.stopReason;
}
