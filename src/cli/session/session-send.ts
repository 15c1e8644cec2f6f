import type { SessionView } from '../../api/session.ts';
import { checkSandboxName } from '../../model/name.ts';
import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { plainText } from '../output/text.ts';
import { findSession, newest, placeOf } from './find-session.ts';
import { followSession } from './follow-session.ts';
import { promptText } from './prompt-text.ts';
import { questionHint } from './question-text.ts';
import { SessionCalls } from './session-calls.ts';
import { faultOf, untilEnd } from './turn-end.ts';

interface Options {
  readonly agent?: string;
  readonly session?: string;
  readonly new?: boolean;
  readonly queue?: boolean;
  readonly wait?: boolean;
}

export default async function sessionSend(context: Context, { args, options }: Invocation<Options>): Promise<void> {
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

/** The session that was named, else the newest open session of the agent, else a new one. */
export async function sessionFor(calls: SessionCalls, sandbox: string, options: Options): Promise<SessionView> {
  const { session, agent } = options;
  if (session !== undefined) return findSession(calls, sandbox, session);
  const open = options.new ? undefined : newest(await calls.of(sandbox), agent);
  return open ?? calls.create(sandbox, agent === undefined ? {} : { agent });
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
