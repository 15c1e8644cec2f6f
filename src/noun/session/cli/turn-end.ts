/** Turns the end of a turn into the exit code of a command. */
import { Fault, type FaultCode } from '../../../model/fault.ts';
import type { SessionEvent, StopReason } from '../model/session.ts';

const faults: { readonly [S in Exclude<StopReason, 'end_turn'>]: readonly [FaultCode, string] } = {
  max_tokens: ['exhausted', 'the agent has no more tokens'],
  max_turn_requests: ['exhausted', 'the agent has no more requests'],
  refusal: ['denied', 'the agent refused'],
  cancelled: ['cancelled', 'the turn was cancelled'],
  interrupted: ['unavailable', 'the agent was killed'],
  failed: ['conflict', 'the turn failed'],
};

export interface TurnEnd {
  readonly stopReason: StopReason;
  readonly reason?: string;
}

/** Null: the turn ended normally. */
export function faultOf({ stopReason, reason }: TurnEnd): Fault | null {
  if (stopReason === 'end_turn') return null;
  const [code, message] = faults[stopReason];
  return new Fault(code, reason === undefined ? message : `${message}: ${reason}`);
}

/** Passes the events of one turn to `take`; resolves when the turn ends. */
export async function untilEnd(
  events: AsyncIterable<SessionEvent>,
  turnId: string,
  take: (event: SessionEvent) => void,
): Promise<TurnEnd> {
  for await (const event of events) {
    if (event.turnId === turnId) take(event);
    if (event.type === 'turn.ended' && event.turnId === turnId) return event.data;
    if (event.type === 'session.failed') return { stopReason: 'failed', reason: event.data.reason };
  }
  throw new Fault('unavailable', 'the connection to the daemon ended before the turn did');
}
