import { relative } from 'node:path';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { absolute } from '../../../client/paths.ts';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { projectOf } from './conclude.ts';

/** `file` is false with --no-file, and true without an option. */
type Options = { readonly project?: string; readonly file?: string | boolean };

export async function swarmExport(context: Context, { options }: Invocation<Options>): Promise<void> {
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
