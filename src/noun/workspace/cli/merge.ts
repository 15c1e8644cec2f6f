import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import { Fault } from '../../../model/fault.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { conclude } from './apply-conclude.ts';
import { forecast } from './apply-forecast.ts';
import { commits, report } from './apply-report.ts';
import { type ApplyFlags, applyRequest } from './apply-request.ts';

export async function merge(context: Context, { args, options }: Invocation<ApplyFlags>): Promise<number> {
  const { out, json } = context;
  const client = connect(context);
  const body = applyRequest(checkNames(args), [], options);
  const ask = (dryRun: boolean) => client.call('POST /v1/apply', { body: { ...body, dryRun } });
  const ahead = await during(out, `comparing ${args.length} sandboxes`, ask(true));
  if (!json) out.print(...forecast(ahead, out));
  if (options.dryRun || options.ask !== undefined || ahead.blocked !== null)
    return conclude(context, 'merge', body, ahead);
  const view = await during(out, `merging ${args.length} sandboxes`, ask(false));
  // The files are listed again only if something changed since the forecast.
  if (!json) out.print(...(view.blocked === null ? commits(view) : report(view, out)));
  return conclude(context, 'merge', body, view);
}

function checkNames(names: readonly string[]): string[] {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return names.map(checkSandboxName);
  throw new Fault('invalid', `${checkSandboxName(twice)} is named twice`, { hint: 'Name each sandbox once.' });
}
