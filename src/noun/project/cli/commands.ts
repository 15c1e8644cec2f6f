import { resolve } from 'node:path';
import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import type { ProjectRequest, ProjectView } from '../api.ts';
import type { ProjectMode } from '../model/project.ts';

interface AddOptions {
  readonly name?: string;
  readonly test?: string;
  readonly lang?: string;
  readonly image?: string;
  readonly mode?: ProjectMode;
}

export async function projectAdd(context: Context, { args, options }: Invocation<AddOptions>): Promise<void> {
  const { name, test, lang, image, mode } = options;
  const languages = lang?.split(',').filter((word) => word !== '');
  const folder = args[0] === undefined ? undefined : resolve(args[0]);
  const body: ProjectRequest = { folder, id: name, test, languages, image, mode };
  await printAnswer(context, connect(context).call('POST /v1/projects', { body }), (view) => plain(view.id));
}

export async function projectLs(context: Context): Promise<void> {
  const answer = connect(context).call('GET /v1/projects');
  await printAnswer(context, answer, projectListing, { empty: 'no projects; add one with: carrel project add DIR' });
}

function projectListing(projects: readonly ProjectView[]): string[] {
  const rows = projects.map(({ id, folder, mode, state, createdAt }) => [
    plain(id),
    state,
    mode,
    plain(folder),
    `${age(createdAt)} ago`,
  ]);
  return table([['ID', 'STATE', 'MODE', 'FOLDER', 'ADDED'], ...rows]);
}

export async function projectShow(context: Context, { args }: Invocation): Promise<void> {
  const answer = connect(context).call('GET /v1/projects/{name}', { path: { name: args[0]! } });
  await printAnswer(context, answer, (view) =>
    table(Object.entries(view).map(([key, value]) => [key, plain([value ?? '-'].flat().join(', '))])),
  );
}

export async function projectRm(
  context: Context,
  { args, options }: Invocation<{ readonly force?: boolean }>,
): Promise<void> {
  const query = options.force ? { force: true } : {};
  const answer = connect(context).call('DELETE /v1/projects/{name}', { path: { name: args[0]! }, query });
  await printAnswer(context, answer, (view) => plain(view.id));
}
