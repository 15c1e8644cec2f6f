/** Server-sent events. */
import type { Fault } from '../../../../model/fault.ts';
import type { LoggedEvent } from '../inside.ts';
import type { Pieces } from './reply.ts';

const headers = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};

/** A reply that streams server-sent events. An event has one line of data: JSON has no line breaks there. */
export function eventStream(pieces: AsyncIterable<string>, more: Readonly<Record<string, string>> = {}): Pieces {
  return { pieces, headers: { ...headers, ...more }, heartbeat: ':\n\n', failed: failedEvent };
}

function failedEvent(fault: Fault): string {
  return `event: fault\ndata: ${JSON.stringify(fault)}\n\n`;
}

export async function* framed(events: AsyncIterable<LoggedEvent>): AsyncIterable<string> {
  for await (const { event, line } of events) yield `id: ${event.seq}\ndata: ${line}\n\n`;
}

/** Events of several sessions, with the session's id as the name of the event. */
export async function* framedById(events: AsyncIterable<LoggedEvent>): AsyncIterable<string> {
  for await (const { event, line } of events) yield `event: ${event.sessionId}\nid: ${event.seq}\ndata: ${line}\n\n`;
}
