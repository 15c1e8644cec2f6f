/** Builds images and shows the progress. */
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../../../client/client.ts';
import type { Output } from '../../../client/output/output.ts';
import { during } from '../../../client/output/progress.ts';
import { decodeJson } from '../../../lib/wire/stream.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import type { BuildEventView, BuiltView } from '../api.ts';
import { dockerfilePlaces } from '../model.ts';

/** Builds an image if anything that goes into it has changed. */
export async function buildImage(client: Client, body: object, out: Output): Promise<BuiltView> {
  let doing = 'building';
  const take = (event: BuildEventView) => {
    doing = show(event, out);
  };
  return during(out, () => doing, watched(client, body, take));
}

/**
 * The name of the project's own image, which is built if it is out of date. Null: the project has no Dockerfile, and no
 * image was built before. A user who may not build images uses the one that exists.
 */
export async function projectImage(client: Client, project: string, out: Output): Promise<string | null> {
  const folder = realpathSync(project);
  const known = (await client.call('GET /v1/images')).find((image) => image.project === folder);
  if (!known && !dockerfilePlaces.some((place) => existsSync(join(folder, place)))) return null;
  try {
    const { image } = await buildImage(client, { project }, out);
    return image.name;
  } catch (error) {
    if (known && isFault(error, 'denied')) return known.name;
    throw error;
  }
}

async function watched(client: Client, body: object, take: (event: BuildEventView) => void): Promise<BuiltView> {
  for await (const frame of client.frames('POST /v1/images/build', { body })) {
    if (frame.type === 'result') return decodeJson(frame) as BuiltView;
    if (frame.type === 'progress') take(decodeJson(frame) as BuildEventView);
  }
  throw new Fault('unavailable', 'the connection to the daemon was lost during the build', {
    hint: 'Try again: what is built stays.',
  });
}

/**
 * Prints steps, which stay on the screen. Returns the text of the progress line: the last output of a step, or the
 * step.
 */
function show(event: BuildEventView, out: Output): string {
  if (event.kind === 'output') return event.text.slice(event.text.lastIndexOf('\n') + 1);
  out.progress('');
  out.note(event.kind === 'phase' ? event.text : stepLine(event));
  return event.kind === 'phase' ? event.text : `step ${event.number} of ${event.total}`;
}

export function stepLine({ number, total, title }: Extract<BuildEventView, { kind: 'step' }>): string {
  const words = title.replaceAll(/\s+/g, ' ');
  return `${`${number}`.padStart(`${total}`.length)}/${total} ${words.length > 100 ? `${words.slice(0, 99)}…` : words}`;
}
