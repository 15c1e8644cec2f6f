import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { commits } from './apply-report.ts';

export async function fetchCommits(context: Context, { args }: Invocation): Promise<void> {
  const name = checkSandboxName(args[0]!);
  const asked = connect(context).call('POST /v1/sandboxes/{name}/fetch', { path: { name } });
  const view = await during(context.out, `fetching the commits of ${name}`, asked);
  if (context.json) return context.out.document(view);
  if (view.commits.length === 0) return context.out.say(`${name} has no new commits; see: carrel log ${name}`);
  context.out.print(...commits(view));
}
