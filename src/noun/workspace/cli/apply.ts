import { ownerOf } from '../../../client/author.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { connect } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import { pathFields } from '../../../client/paths.ts';
import { canAsk, confirm } from '../../../client/stream/confirm.ts';
import { Fault } from '../../../model/fault.ts';
import { checkSandboxName } from '../../../model/name.ts';
import type { ApplyRequest } from '../api.ts';
import { conclude } from './apply-conclude.ts';
import { report } from './apply-report.ts';
import { type ApplyFlags, applyRequest } from './apply-request.ts';
import { pickHunks } from './pick-hunks.ts';

type Options = ApplyFlags & { readonly branch?: string; readonly message?: string; readonly patch?: boolean };

export async function apply(context: Context, { args, options }: Invocation<Options>): Promise<number> {
  const name = checkSandboxName(args[0]!);
  const client = connect(context);
  const flags = applyRequest([name], [], options);
  checkPatch(context, options);
  checkMessage(options);
  const request = { ...flags, ...(await pathFields(client, name, args.slice(1))) };
  const body = { ...request, ...(await commitOf(client, name, options)) };
  if (!options.patch) return (await send(context, client, body)).exitCode;
  const pick = await picked(context, client, body);
  if (pick.length > 0) return sendPicked(context, client, { ...body, pick });
  context.out.say('nothing was chosen');
  return 0;
}

async function send(context: Context, client: Client, body: ApplyRequest) {
  const doing = `applying ${body.names[0]!}`;
  const view = await during(context.out, doing, client.call('POST /v1/apply', { body }));
  if (!context.json) context.out.print(...report(view, context.out));
  return { view, exitCode: conclude(context, 'apply', body, view) };
}

/** Asks about gates at once, because otherwise the user would have to choose the hunks again. */
async function sendPicked(context: Context, client: Client, body: ApplyRequest): Promise<number> {
  const { view, exitCode } = await send(context, client, body);
  if (view.blocked !== 'gated') return exitCode;
  const kinds = [...new Set(view.paths.filter(({ outcome }) => outcome === 'gated').flatMap(({ gates }) => gates))];
  if (!(await confirm(`Allow ${kinds.join(', ')} this time?`))) return exitCode;
  return (await send(context, client, { ...body, allow: [...(body.allow ?? []), ...kinds] })).exitCode;
}

async function picked({ out }: Context, client: Client, { names: [name = ''], paths, ignored }: ApplyRequest) {
  const body = { ...(paths ? { paths } : {}), ...(ignored ? { ignored } : {}) };
  const answer = client.call('POST /v1/sandboxes/{name}/offer', { path: { name }, body });
  return pickHunks(await during(out, `comparing ${name}`, answer), out);
}

function checkPatch({ out, json }: Context, { patch, ask }: Options): void {
  if (!patch) return;
  if (ask !== undefined) throw new Fault('invalid', '-p and --ask exclude each other', { hint: 'Give one of them.' });
  if (!json && canAsk(out)) return;
  throw new Fault('invalid', '-p asks about each hunk, and there is no terminal to ask at', {
    hint: 'Name the paths to take: carrel apply NAME PATH…',
  });
}

function checkMessage({ branch, message }: Options): void {
  if (message === undefined || branch !== undefined) return;
  throw new Fault('invalid', '--message is for a commit, and without --branch there is none', {
    hint: 'Add --branch B, or leave --message out.',
  });
}

/** The branch, message and author of a commit on a branch. */
async function commitOf(client: Client, name: string, options: Options): Promise<Partial<ApplyRequest>> {
  const { branch, message = `Take over changes of ${name}` } = options;
  if (branch === undefined) return {};
  const author = await ownerOf(client, name);
  return { branch, message, ...(author === null ? {} : { author }) };
}
