import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { absolute } from '../../../client/paths.ts';
import { formatSize } from '../../../model/size.ts';
import type { BuiltView, ImageView } from '../api.ts';
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

export async function imageLs(context: Context): Promise<void> {
  const answer = connect(context).call('GET /v1/images');
  await printAnswer(context, answer, imageListing, { empty: 'no images; make one with: carrel image build PROJECT' });
}

/** So much of an id is shown. */
const idLength = 'sha256:'.length + 12;

export function imageListing(images: readonly ImageView[], now?: number): string[] {
  const rows = images.map(({ name, source, id, state, sizeBytes, at, project }) => [
    plain(name),
    source,
    id === null ? '-' : plain(id).slice(0, idLength),
    state,
    sizeBytes === null ? '-' : formatSize(sizeBytes),
    at === null ? '-' : age(at, now),
    project === null ? '-' : plain(project),
  ]);
  return table([['NAME', 'SOURCE', 'ID', 'STATE', 'SIZE', 'AGE', 'PROJECT'], ...rows]);
}

export async function imageRm(context: Context, { args }: Invocation): Promise<void> {
  const answer = connect(context).call('POST /v1/images/remove', { body: { name: args[0]! } });
  await printAnswer(context, answer, (view) => plain(view.name));
}
