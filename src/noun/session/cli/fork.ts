import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { SessionCalls } from './calls.ts';
import { findSession, placeOf } from './find-session.ts';

interface Options {
  readonly session?: string;
  readonly title?: string;
}

export async function sessionFork(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const calls = new SessionCalls(connect(context));
  const session = await findSession(calls, checkSandboxName(args[0]!), options.session);
  const { title } = options;
  const fork = await calls.fork(placeOf(session), title === undefined ? {} : { title });
  if (context.json) return context.out.document(fork);
  context.out.print(fork.sessionId);
}
