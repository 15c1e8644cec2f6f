import { resolve } from 'node:path';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';
import type { ProjectRequest } from '../api.ts';
import type { ProjectMode } from '../model/project.ts';

interface Options {
  readonly name?: string;
  readonly test?: string;
  readonly lang?: string;
  readonly image?: string;
  readonly mode?: ProjectMode;
}

export async function projectAdd(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const { name, test, lang, image, mode } = options;
  const languages = lang?.split(',').filter((word) => word !== '');
  const folder = args[0] === undefined ? undefined : resolve(args[0]);
  const body: ProjectRequest = { folder, id: name, test, languages, image, mode };
  const view = await connect(context).call('POST /v1/projects', { body });
  if (context.json) return context.out.document(view);
  context.out.print(plain(view.id));
}
