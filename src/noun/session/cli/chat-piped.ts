/** `echo TEXT | carrel chat`: sends one prompt and prints the turn as lines. */

import type { Context } from '../../../client/cli.ts';
import { Fault } from '../../../model/fault.ts';
import type { SessionView } from '../api.ts';
import type { SessionCalls } from './calls.ts';
import { EventPrinter } from './event-printer.ts';
import { placeOf } from './find-session.ts';
import { followSession } from './follow-session.ts';
import { promptOnStdin } from './prompt-text.ts';
import { questionHint } from './question-text.ts';
import { faultOf, untilEnd } from './turn-end.ts';

export async function chatPiped({ out }: Context, calls: SessionCalls, session: SessionView): Promise<void> {
  const text = await promptOnStdin();
  if (text.trim() === '') {
    throw new Fault('invalid', 'stdin has no prompt', { hint: `echo "list files" | carrel chat ${session.sandbox}` });
  }
  const place = placeOf(session);
  const { turnId, seq } = await calls.prompt(place, text, true);
  const abort = new AbortController();
  const printer = new EventPrinter(out);
  const end = await untilEnd(followSession(calls, place, seq, abort.signal), turnId, (event) => {
    if (event.type === 'question') out.say(questionHint(session, event.data));
    if (event.type !== 'turn.ended' || event.data.stopReason === 'end_turn') out.stdout.write(printer.take(event));
  });
  abort.abort();
  const changes = await calls.changes(place);
  if (changes !== null) out.say(changes);
  const fault = faultOf(end);
  if (fault) throw fault;
}
