import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';
import { absolute } from '../../../client/paths.ts';
import type { BuiltView } from '../api.ts';
import { buildImage } from './image.ts';

interface Options {
  readonly hub?: boolean;
  readonly offline?: boolean;
}

export async function imageBuild(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const { out } = context;
  const [project] = args;
  const body = {
    ...(project === undefined ? {} : { project: absolute(project, 'PROJECT') }),
    ...(options.hub ? { hub: true } : {}),
    ...(options.offline ? { offline: true } : {}),
  };
  const began = Date.now();
  const view = await buildImage(connect(context), body, out);
  if (context.json) return out.document(view);
  for (const note of view.notes) out.say(note);
  const seconds = Math.round((Date.now() - began) / 1000);
  out.note(view.built ? `built in ${seconds} s; use it with: ${useOf(view, project)}` : 'nothing has changed since');
  out.print(plain(view.image.name));
}

function useOf({ image }: BuiltView, project: string | undefined): string {
  if (image.source === 'hub') return 'carrel compose > docker-compose.yml, then docker-compose up -d';
  return ['carrel run --engine docker --image', image.name, ...(project === undefined ? [] : [project]), '-- CMD'].join(
    ' ',
  );
}
