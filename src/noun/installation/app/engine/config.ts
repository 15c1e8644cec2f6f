/** Section `docker` of config.yaml: the Docker Engine. */
import { z } from 'zod';
import { path, section } from '../../../../kernel/settings/section.ts';

const docker = z
  .strictObject({
    socket: path.meta({
      description:
        'The socket of the Docker Engine or of Podman. Default: the one that `DOCKER_HOST` names, else the first that exists.',
      examples: ['/run/podman/podman.sock'],
    }),
    parent: z
      .string()
      .min(1)
      .max(512)
      .meta({
        description:
          'The image that the base of all built images is built on. `host` takes the packages of this Debian machine and needs no registry.',
        default: 'debian:trixie-slim',
        examples: ['host'],
      }),
  })
  .partial()
  .describe('The Docker Engine.');

export const engineConfig = [
  section('docker', {
    schema: docker.optional(),
    read: (content) => ({ dockerSocket: content?.socket ?? null, parentImage: content?.parent ?? null }),
    atStart: { dockerSocket: 'docker.socket' },
  }),
] as const;
