import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { SessionCalls } from './calls.ts';
import { findSession, placeOf } from './find-session.ts';

interface Options {
  readonly session?: string;
}

export async function sessionCancel(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const calls = new SessionCalls(connect(context));
  const place = placeOf(await findSession(calls, checkSandboxName(args[0]!), options.session));
  const session = await calls.cancel(place);
  if (context.json) context.out.document(session);
}
