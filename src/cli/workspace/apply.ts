import type { Client } from '../../api/client.ts';
import type { ApplyRequest } from '../../api/workspace.ts';
import { Fault } from '../../model/fault.ts';
import { checkSandboxName } from '../../model/name.ts';
import { ownerOf } from '../author.ts';
import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { during } from '../output/progress.ts';
import { askedPaths } from '../paths.ts';
import { conclude } from './apply-conclude.ts';
import { report } from './apply-report.ts';
import { type ApplyOptions, applyRequest } from './apply-request.ts';

type Options = ApplyOptions & { readonly branch?: string; readonly message?: string };

export default async function apply(context: Context, { args, options }: Invocation<Options>): Promise<number> {
  const name = checkSandboxName(args[0]!);
  const client = connect(context);
  const asked = applyRequest([name], [], options);
  checkMessage(options);
  const request = { ...asked, ...(await askedPaths(client, name, args.slice(1))) };
  const body = { ...request, ...(await commitOf(client, name, options)) };
  const view = await during(context.out, `applying ${name}`, client.call('POST /v1/apply', { body }));
  if (!context.json) context.out.print(...report(view, context.out));
  return conclude(context, 'apply', body, view);
}

function checkMessage({ branch, message }: Options): void {
  if (message === undefined || branch !== undefined) return;
  throw new Fault('invalid', '--message is for a commit, and without --branch there is none', {
    hint: 'Add --branch B, or leave --message out.',
  });
}

/** What a commit on a branch needs besides its files. */
async function commitOf(client: Client, name: string, options: Options): Promise<Partial<ApplyRequest>> {
  const { branch, message = `Take over changes of ${name}` } = options;
  if (branch === undefined) return {};
  const author = await ownerOf(client, name);
  return { branch, message, ...(author === null ? {} : { author }) };
}
