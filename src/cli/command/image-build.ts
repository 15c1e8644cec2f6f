import type { Client } from '../../api/client.ts';
import type { BuildEventView, BuiltView } from '../../api/routes.ts';
import { decodeJson } from '../../api/stream.ts';
import { Fault } from '../../model/fault.ts';
import type { Context, Invocation } from '../context.ts';
import { connect } from '../daemon.ts';
import type { Output } from '../output/output.ts';
import { plain } from '../output/text.ts';
import { absolute } from '../paths.ts';

interface Options {
  readonly offline?: boolean;
}

export default async function imageBuild(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const { out } = context;
  const [project] = args;
  const body = {
    ...(project === undefined ? {} : { project: absolute(project, 'PROJECT') }),
    ...(options.offline ? { offline: true } : {}),
  };
  const began = Date.now();
  const clear = () => out.progress('');
  process.once('exit', clear);
  const view = await watched(connect(context), body, out).finally(() => {
    process.off('exit', clear);
    clear();
  });
  if (context.json) return out.document(view);
  for (const note of view.notes) out.say(note);
  const seconds = Math.round((Date.now() - began) / 1000);
  out.note(view.built ? `built in ${seconds} s; use it with: ${useOf(view, project)}` : 'nothing has changed since');
  out.print(plain(view.image.name));
}

async function watched(client: Client, body: object, out: Output): Promise<BuiltView> {
  for await (const frame of client.frames('buildImage', { body })) {
    if (frame.type === 'result') return decodeJson(frame) as BuiltView;
    if (frame.type === 'progress') show(decodeJson(frame) as BuildEventView, out);
  }
  throw new Fault('unavailable', 'the daemon went away during the build', { hint: 'Try again: what is built stays.' });
}

/** Steps stay on the screen; what they print passes by on the line below. */
function show(event: BuildEventView, out: Output): void {
  out.progress(event.kind === 'output' ? `  ${event.text.slice(event.text.lastIndexOf('\n') + 1)}` : '');
  if (event.kind !== 'output') out.note(event.kind === 'phase' ? event.text : stepLine(event));
}

export function stepLine({ number, total, title }: Extract<BuildEventView, { kind: 'step' }>): string {
  const words = title.replaceAll(/\s+/g, ' ');
  return `${`${number}`.padStart(`${total}`.length)}/${total} ${words.length > 100 ? `${words.slice(0, 99)}…` : words}`;
}

function useOf({ image }: BuiltView, project: string | undefined): string {
  return ['carrel run --engine docker --image', image.name, ...(project === undefined ? [] : [project]), '-- CMD'].join(
    ' ',
  );
}
