import { checkSandboxName } from '../../model/name.ts';
import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { findSession, placeOf } from './find-session.ts';
import { SessionCalls } from './session-calls.ts';

export default async function sessionClose(context: Context, { args }: Invocation): Promise<void> {
  const calls = new SessionCalls(connect(context));
  const place = placeOf(await findSession(calls, checkSandboxName(args[0]!), args[1]));
  const session = await calls.close(place);
  if (context.json) context.out.document(session);
}
