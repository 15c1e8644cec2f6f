import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { Fault } from '../../../model/fault.ts';
import { checkSandboxName, printable } from '../../../model/name.ts';
import { findSession, placeOf } from './find-session.ts';
import { SessionCalls } from './session-calls.ts';

interface SessionOptions {
  readonly session?: string;
}

export async function sessionCancel(context: Context, { args, options }: Invocation<SessionOptions>): Promise<void> {
  const calls = new SessionCalls(connect(context));
  const place = placeOf(await findSession(calls, checkSandboxName(args[0]!), options.session));
  const session = await calls.cancel(place);
  if (context.json) context.out.document(session);
}

interface ForkOptions {
  readonly session?: string;
  readonly title?: string;
}

export async function sessionFork(context: Context, { args, options }: Invocation<ForkOptions>): Promise<void> {
  const calls = new SessionCalls(connect(context));
  const session = await findSession(calls, checkSandboxName(args[0]!), options.session);
  const { title } = options;
  const answer = calls.fork(placeOf(session), title === undefined ? {} : { title });
  await printAnswer(context, answer, (fork) => fork.sessionId);
}

export async function sessionClose(context: Context, { args, options }: Invocation<SessionOptions>): Promise<void> {
  const calls = new SessionCalls(connect(context));
  const place = placeOf(await findSession(calls, checkSandboxName(args[0]!), options.session));
  const session = await calls.close(place);
  if (context.json) context.out.document(session);
}

export async function sessionRm(context: Context, { args, options }: Invocation<SessionOptions>): Promise<void> {
  if (options.session === undefined) throw unnamed(args[0]!);
  const calls = new SessionCalls(connect(context));
  const session = await findSession(calls, checkSandboxName(args[0]!), options.session);
  const removed = await calls.remove(placeOf(session));
  if (context.json) context.out.document(removed);
}

/** Other commands use the newest session by default; a removal cannot be undone, so it needs an id. */
function unnamed(sandbox: string): Fault {
  return new Fault('invalid', 'session rm needs --session ID', {
    hint: `carrel session ls ${printable(sandbox)} lists them.`,
  });
}
