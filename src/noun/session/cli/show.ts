import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { parseCount } from '../../../client/option.ts';
import { age } from '../../../client/output/age.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { checkSandboxName } from '../../../model/name.ts';
import type { SessionView } from '../api.ts';
import { findSession, placeOf } from './find-session.ts';
import { SessionCalls } from './session-calls.ts';
import { messageLines, paintSession, questionLine } from './text.ts';

interface Options {
  readonly session?: string;
  readonly last?: string;
}

const defaultLast = 20;

export async function sessionShow(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const calls = new SessionCalls(connect(context));
  const last = options.last === undefined ? defaultLast : parseCount(options.last, '--last', 0);
  const session = await findSession(calls, checkSandboxName(args[0]!), options.session);
  const messages = last === 0 ? [] : (await calls.messages(placeOf(session))).slice(-last);
  if (context.json) return context.out.document({ ...session, messages });
  context.out.print(...description(session, context));
  for (const message of messages) context.out.print('', ...messageLines(message, context.out));
}

function description(session: SessionView, { out }: Context): string[] {
  const { reason, queued, pending, modes, models, forkedFrom } = session;
  const state = `${paintSession(out, session)}${reason === null ? '' : `: ${plain(reason)}`}`;
  return table([
    ['id', session.sessionId],
    ['sandbox', plain(session.sandbox)],
    ['agent', plain(session.agent)],
    ...(session.title === null ? [] : [['title', plain(session.title)]]),
    ['state', `${state}${queued > 0 ? `, ${queued} queued` : ''}`],
    ['active', `${age(session.updatedAt)} ago`],
    ...(modes === null ? [] : [['mode', plain(modes.current)]]),
    ...(models === null ? [] : [['model', plain(models.current)]]),
    ...(forkedFrom === null ? [] : [['forked from', plain(forkedFrom.sessionId)]]),
    ...pending.map((question) => ['question', questionLine(question)]),
  ]);
}
