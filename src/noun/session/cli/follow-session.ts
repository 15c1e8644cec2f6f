/** Follows the events of a session, also across restarts of the daemon. */
import { setTimeout as pause } from 'node:timers/promises';
import { isFault } from '../../../model/fault.ts';
import type { SessionEvent } from '../model/session.ts';
import type { Place, SessionCalls } from './session-calls.ts';

const awayMs = 500;

/** Follows until the signal aborts. `away` is called once for each time that the daemon goes away. */
export async function* followSession(
  calls: Pick<SessionCalls, 'events'>,
  place: Place,
  after: number,
  signal: AbortSignal,
  away: () => void = () => {},
): AsyncGenerator<SessionEvent> {
  let seq = after;
  let isAway = false;
  while (!signal.aborted) {
    try {
      for await (const event of calls.events(place, seq, signal)) {
        isAway = false;
        seq = event.seq;
        yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isFault(error, 'unavailable')) throw error;
      if (!isAway) away();
      isAway = true;
    }
    await pause(awayMs, undefined, { signal }).catch(() => {});
  }
}
