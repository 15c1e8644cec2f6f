import { relative } from 'node:path';
import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';
import { absolute } from '../../../client/paths.ts';
import { withTrust } from '../../../client/project-file/trust.ts';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { type ChoiceOptions, swarmChoice } from './choice.ts';
import { concludeSwarm, projectOf } from './conclude.ts';
import { followSwarm } from './follow.ts';
import { requireGh } from './pull-request.ts';
import { swarmNotes, swarmTable } from './view.ts';

type InitOptions = { readonly project?: string; readonly force?: boolean };

export async function swarmInit(context: Context, { options }: Invocation<InitOptions>): Promise<void> {
  const body = { project: projectOf(options), force: options.force ?? false };
  context.out.document(await connect(context).call('POST /v1/swarm/init', { body }));
}

type ProjectOptions = { readonly project?: string };

export async function swarmAdd(context: Context, { args, options }: Invocation<ProjectOptions>): Promise<void> {
  const [containerId, containerName, taskFilePath, branchName] = args as [string, string, string, string];
  const body = { project: projectOf(options), containerId, containerName, taskFilePath, branchName };
  context.out.document(await connect(context).call('POST /v1/swarm/add', { body }));
}

/** Prints a name and a status on each line, for scripts. */
export async function swarmList(context: Context, { options }: Invocation<ProjectOptions>): Promise<void> {
  const answer = connect(context).call('GET /v1/swarm', { query: { project: projectOf(options) } });
  const containers = answer.then((swarm) => swarm.containers);
  await printAnswer(context, containers, (all) =>
    all.map(({ containerName, status }) => `${plain(containerName)}\t${status}`),
  );
}

export async function swarmStatus(context: Context, { options }: Invocation<ProjectOptions>): Promise<void> {
  const { out } = context;
  const project = projectOf(options);
  const client = connect(context);
  if (context.json) return out.document(await client.call('GET /v1/swarm', { query: { project } }));
  if (out.columns !== null) return void (await followSwarm(client, out, project));
  const view = await client.call('GET /v1/swarm/show', { query: { project } });
  out.print(...swarmTable(view, out), ...swarmNotes(view, out));
}

export async function swarmStop(context: Context, { args, options }: Invocation<ProjectOptions>): Promise<void> {
  const body = { project: projectOf(options), ...(args.length === 0 ? {} : { names: [...args] }) };
  const answer = connect(context).call('POST /v1/swarm/stop', { body });
  await printAnswer(context, answer, (view) => swarmTable(view, context.out), { doing: 'stopping the swarm' });
}

interface ResumeOptions extends ChoiceOptions {
  readonly project?: string;
  readonly pr?: boolean;
}

export async function swarmResume(context: Context, { args, options }: Invocation<ResumeOptions>): Promise<number> {
  if (options.pr) await requireGh(options.detach ?? false);
  const client = connect(context);
  const project = projectOf(options);
  const names = args.length === 0 ? {} : { names: [...args] };
  const body = { project, ...names, ...(await swarmChoice(context, client, project, options)) };
  const begun = await withTrust(context, client, () => client.call('POST /v1/swarm/resume', { body }));
  return concludeSwarm(context, client, begun, options, body.sandbox);
}

export async function swarmRemove(context: Context, { args, options }: Invocation<ProjectOptions>): Promise<void> {
  const body = { project: projectOf(options), containerName: args[0]! };
  const answer = connect(context).call('POST /v1/swarm/remove', { body });
  await printAnswer(context, answer, (removed) => `Removed container: ${plain(removed.containerName)}`);
}

export async function swarmCleanup(context: Context, { options }: Invocation<ProjectOptions>): Promise<void> {
  context.out.document(
    await connect(context).call('POST /v1/swarm/cleanup', { body: { project: projectOf(options) } }),
  );
}

/** `file` is false with --no-file, and true without an option. */
type ExportOptions = { readonly project?: string; readonly file?: string | boolean };

export async function swarmExport(context: Context, { options }: Invocation<ExportOptions>): Promise<void> {
  const project = projectOf(options);
  const { file } = options;
  if (typeof file === 'string' || file === false) {
    const body = { project, file: file === false ? null : insideOf(project, file) };
    context.out.document(await connect(context).call('POST /v1/swarm/file', { body }));
  } else context.out.document(await connect(context).call('GET /v1/swarm', { query: { project } }));
}

/** The daemon writes only inside the project. */
function insideOf(project: string, file: string): string {
  const path = relative(project, absolute(file, '--file'));
  if (path.endsWith('.json') && !path.startsWith('..')) return path;
  throw new Fault('invalid', `--file: ${printable(file)} is not a .json file of the project`, {
    hint: 'Such as: carrel swarm export --file .aimi/swarm-state.json',
  });
}
