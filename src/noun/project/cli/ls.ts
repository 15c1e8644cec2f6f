import type { Context } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import type { ProjectView } from '../api.ts';

export async function projectLs(context: Context): Promise<void> {
  const projects = await connect(context).call('GET /v1/projects');
  if (context.json) return context.out.document(projects);
  if (projects.length === 0) return context.out.note('no projects; add one with: carrel project add DIR');
  context.out.print(...projectListing(projects));
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
