import { checkSandboxName } from '../../model/name.ts';
import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { findSession, placeOf } from './find-session.ts';
import { SessionCalls } from './session-calls.ts';

export default async function sessionRm(context: Context, { args }: Invocation): Promise<void> {
  const calls = new SessionCalls(connect(context));
  const session = await findSession(calls, checkSandboxName(args[0]!), args[1]);
  const removed = await calls.remove(placeOf(session));
  if (context.json) context.out.document(removed);
}
