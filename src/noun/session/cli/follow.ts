import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { parseCount } from '../../../client/option.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { EventPrinter } from './event-printer.ts';
import { findSession, placeOf } from './find-session.ts';
import { followSession } from './follow-session.ts';
import { questionHint } from './question-text.ts';
import { SessionCalls } from './session-calls.ts';

interface Options {
  readonly session?: string;
  readonly after?: string;
}

export async function sessionFollow(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const { out, json } = context;
  const calls = new SessionCalls(connect(context));
  const after = options.after === undefined ? 0 : parseCount(options.after, '--after', 0);
  const session = await findSession(calls, checkSandboxName(args[0]!), options.session);
  const printer = new EventPrinter(out);
  const away = () => out.warn('the daemon does not answer; trying again');
  for await (const event of followSession(calls, placeOf(session), after, new AbortController().signal, away)) {
    if (json) out.document(event, 0);
    else out.stdout.write(printer.take(event));
    if (event.type === 'question' && event.seq > session.seq) out.note(questionHint(session, event.data));
    if (event.type === 'session.closed') return;
  }
}
