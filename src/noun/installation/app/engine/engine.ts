/** The engines of an installation. */
import { z } from 'zod';
import { declare } from '../../../../kernel/server/route.ts';
import { path, section } from '../../../../kernel/settings/section.ts';
import * as shape from '../../api/engine.ts';
import type { EngineViews } from './engine-views.ts';

export interface EngineScope {
  readonly engineViews: Pick<EngineViews, 'list' | 'rows'>;
}

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

/** Section `docker` of config.yaml: the Docker Engine. */
const engineConfig = [
  section('docker', {
    schema: docker.optional(),
    read: (content) => ({ dockerSocket: content?.socket ?? null, parentImage: content?.parent ?? null }),
    atStart: { dockerSocket: 'docker.socket' },
  }),
] as const;

const { noun, route } = declare<EngineScope>();

export const engine = noun({
  config: engineConfig,
  routes: [
    route('GET /v1/engines', {
      id: 'listEngines',
      summary: 'The engines, whether sandboxes can be started on them, and why not',
      answer: z.array(shape.engineView),
      usesSettings: true,
      act: null,
      handle: ({ scope }) => scope.engineViews.list(),
    }),
  ],
  examine: ({ engineViews }) => engineViews.rows(),
});
