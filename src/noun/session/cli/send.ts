import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plainText } from '../../../client/output/text.ts';
import { checkSandboxName } from '../../../model/name.ts';
import type { SessionView } from '../api.ts';
import { placeOf, type SessionChoice, sessionFor } from './find-session.ts';
import { followSession } from './follow-session.ts';
import { promptText } from './prompt-text.ts';
import { questionHint } from './question-text.ts';
import { SessionCalls } from './session-calls.ts';
import { faultOf, untilEnd } from './turn-end.ts';

interface Options extends SessionChoice {
  readonly queue?: boolean;
  readonly wait?: boolean;
}

export async function sessionSend(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const [name, ...words] = args;
  const sandbox = checkSandboxName(name!);
  const text = await promptText(words);
  const calls = new SessionCalls(connect(context));
  const session = await sessionFor(calls, sandbox, options);
  const turn = await calls.prompt(placeOf(session), text, options.queue === true);
  if (options.wait) return wait(context, calls, session, turn);
  if (context.json) return context.out.document({ sessionId: session.sessionId, ...turn });
  context.out.print(session.sessionId);
  context.out.note(`follow it with: carrel session follow ${sandbox} --session ${session.sessionId}`);
}

async function wait(
  { json, out }: Context,
  calls: SessionCalls,
  session: SessionView,
  { turnId, seq }: { readonly turnId: string; readonly seq: number },
): Promise<void> {
  const abort = new AbortController();
  let text = '';
  const events = followSession(calls, placeOf(session), seq, abort.signal);
  const end = await untilEnd(events, turnId, (event) => {
    if (event.type === 'text') text += event.data.text;
    else if (event.type === 'question') out.say(questionHint(session, event.data));
  });
  abort.abort();
  if (json) out.document({ sessionId: session.sessionId, turnId, ...end, text });
  else if (text !== '') out.print(plainText(text.replace(/\n$/, '')));
  const fault = faultOf(end);
  if (fault) throw fault;
}
