/** One turn as server-sent events of the UI message stream, until it ends or asks for a permission. */
import { Fault } from '../../../../../model/fault.ts';
import type { SessionFold } from '../../../model/session-fold.ts';
import type { Session } from '../../inside.ts';
import { UiStream } from './ui-stream.ts';

export interface TurnPart {
  readonly turnId: string;
  /** The number of the turn's first event, or of an earlier one. */
  readonly start: number;
  /** The last event of the turn that the client has; 0: none. */
  readonly after: number;
  /** `permission`: ends at a permission, too, which a front end with approvals answers with its next request. */
  readonly until: 'end' | 'permission';
}

export async function* followedTurn(session: Session, part: TurnPart, signal: AbortSignal): AsyncIterable<string> {
  const { turnId, start, after, until } = part;
  const stream = new UiStream({ approvals: until === 'permission' });
  for await (const { event } of session.follow(Math.max(0, start - 1), signal)) {
    if (event.turnId !== turnId) continue;
    const chunks = stream.take(event);
    if (event.seq <= after) continue;
    for (const chunk of chunks) yield sent(chunk);
    if (event.type === 'turn.ended') break;
    const isLast = until === 'permission' && event.type === 'question' && event.data.kind === 'permission';
    if (!isLast) continue;
    yield sent({ type: 'finish' });
    break;
  }
  yield 'data: [DONE]\n\n';
}

function sent(chunk: object): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** The running turn; null: there is none. */
export function runningTurn({
  turns,
  messages,
}: SessionFold): (Pick<TurnPart, 'turnId' | 'start'> & { at: string }) | null {
  const [turn] = turns;
  const prompt = messages.filter(({ role }) => role === 'user').at(-turns.length);
  if (turn === undefined || prompt === undefined) return null;
  // The id of a message contains the number of its first event.
  return { turnId: turn.turnId, start: Number(prompt.id.slice(1)), at: prompt.createdAt };
}

/** The rest of a turn after one of its questions. */
export async function turnAfter(session: Session, pendingId: string, signal: AbortSignal) {
  const last = session.fold.seq;
  for await (const { event } of session.follow(0, signal)) {
    if (event.type === 'question' && event.data.pendingId === pendingId)
      return { turnId: event.turnId!, start: 0, after: event.seq };
    if (event.seq >= last) break;
  }
  throw new Fault('not_found', `there is no question ${pendingId}`);
}
