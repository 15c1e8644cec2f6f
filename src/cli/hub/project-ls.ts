import type { ProjectView } from '../../api/project.ts';
import type { Context } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { age } from '../output/age.ts';
import { table } from '../output/table.ts';
import { plain } from '../output/text.ts';

export default async function projectLs(context: Context): Promise<void> {
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
