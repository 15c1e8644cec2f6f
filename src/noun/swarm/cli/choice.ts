/** The choices of `swarm run` and `swarm resume`: the agent, the author of commits, and what sandboxes get. */

import { authorIn } from '../../../client/author.ts';
import type { Context } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { projectImage } from '../../image/cli/image.ts';
import { type SandboxOptions, sandboxRequest } from '../../sandbox/cli/request.ts';

export interface ChoiceOptions extends SandboxOptions {
  readonly agent?: string;
}

export async function swarmChoice({ out }: Context, client: Client, project: string, options: ChoiceOptions) {
  const { agent } = options;
  const sandbox = surroundings(options);
  const image = usesImages(options) ? await projectImage(client, project, out) : null;
  const author = await authorIn(project);
  return {
    ...(author === null ? {} : { author: cleaned(author) }),
    ...(agent === undefined ? {} : { agent }),
    sandbox: { ...sandbox, ...(image === null ? {} : { image }) },
  };
}

function usesImages({ engine, image, rootfs }: SandboxOptions): boolean {
  return engine === 'docker' && image === undefined && rootfs === undefined;
}

/** Removes the characters that git removes from names in commits. */
function cleaned({ name, email }: { readonly name: string; readonly email: string }) {
  const clean = (text: string) => text.replace(/[\x00-\x1f\x7f<>]/g, '').slice(0, 200) || 'unknown';
  return { name: clean(name), email: clean(email) };
}

/** The request of `run`, without the fields that a swarm fills itself. */
function surroundings(options: SandboxOptions) {
  const { mode: _, command: __, ...request } = sandboxRequest(options, undefined, []);
  return request;
}
