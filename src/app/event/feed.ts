/** Events on their way to those who may see them. What is no longer kept is told of, as an event of its own. */
import { setImmediate as breathe } from 'node:timers/promises';
import type { Context as HonoContext } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { Event } from '../../model/event.ts';
import type { Actor } from '../../model/user.ts';
import type { Store } from '../../store/store.ts';

const pageSize = 1000;

/** At most so many after a sequence number; without one, from the oldest that is kept. */
export async function eventsAfter(store: Store, actor: Actor, after = 0, limit = pageSize): Promise<Event[]> {
  const wanted = Math.min(limit, pageSize);
  const found: Event[] = gapAfter(store, after);
  for (let seq = after; found.length < wanted; ) {
    const page = store.events(seq, pageSize);
    if (page.length === 0) break;
    seq = page.at(-1)!.seq;
    found.push(...page.filter((event) => maySee(actor, event)));
    // Others may have had much to do, and somebody waits.
    await breathe();
  }
  return found.slice(0, wanted);
}

/** Replays from the store and goes on with it as events come, so that none is missed in between. */
export function followEvents(store: Store, actor: Actor, after: number | undefined, context: HonoContext): Response {
  const lastId = Number(context.req.header('last-event-id') ?? Number.NaN);
  return streamSSE(context, async (sse) => {
    let seq = Number.isSafeInteger(lastId) ? lastId : (after ?? store.lastSeq());
    let wake = () => {};
    const forget = store.subscribe(() => wake());
    sse.onAbort(() => wake());
    try {
      while (!sse.aborted && !sse.closed) {
        const events = [...gapAfter(store, seq), ...store.events(seq, pageSize)];
        for (const event of events) {
          seq = event.seq;
          if (!maySee(actor, event)) continue;
          await sse.writeSSE({ id: String(event.seq), event: event.type, data: JSON.stringify(event) });
        }
        if (events.length === 0)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      forget();
    }
  });
}

const dropped = 'events.dropped';

/** Between the last event that somebody had and the oldest that is kept. Who had none begins there. */
function gapAfter(store: Store, seq: number): Event[] {
  const first = store.firstSeq();
  if (seq === 0 || seq + 1 >= first) return [];
  const data = { from: seq + 1, to: first - 1 };
  return [{ seq: first - 1, at: new Date().toISOString(), type: dropped, subject: '', data }];
}

/** What happened to others is theirs to know. */
function maySee({ name, isOwner }: Actor, { type, data }: Event): boolean {
  return isOwner || data.user === name || type === dropped;
}
