import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { checkSandboxName } from '../../../model/name.ts';
import type { SessionView } from '../api.ts';
import { shortIds } from './find-session.ts';
import { SessionCalls } from './session-calls.ts';
import { paintSession } from './text.ts';

interface Options {
  readonly all?: boolean;
}

export async function sessionLs(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const calls = new SessionCalls(connect(context));
  const [sandbox] = args;
  const found = await (sandbox === undefined ? calls.all() : calls.of(checkSandboxName(sandbox)));
  const shown = found.filter(({ state }) => options.all || state !== 'closed');
  if (context.json) return context.out.document(shown);
  if (shown.length === 0) return context.out.note('no open sessions; begin one with: carrel chat');
  context.out.print(...sessionListing(shown, found, context.out));
}

/** The newest session first. Ids are shortened so that they stay unique among `all`. */
export function sessionListing(
  sessions: readonly SessionView[],
  all: readonly SessionView[],
  out: Context['out'],
  now?: number,
): string[] {
  const ids = shortIds(all);
  const rows = sessions
    .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
    .map((one) => [
      ids.get(one.sessionId)!,
      plain(one.sandbox),
      plain(one.agent),
      paintSession(out, one),
      age(one.updatedAt, now),
      plain(one.title ?? '-'),
    ]);
  return table([['ID', 'SANDBOX', 'AGENT', 'STATE', 'ACTIVE', 'TITLE'], ...rows]);
}
