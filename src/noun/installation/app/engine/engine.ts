/** The engines of an installation. */
import { z } from 'zod';
import { declare } from '../../../../kernel/server/route.ts';
import * as shape from '../../api/engine.ts';
import { engineConfig } from './config.ts';
import type { EngineViews } from './engines.ts';

export interface EngineScope {
  readonly engineViews: Pick<EngineViews, 'list' | 'rows'>;
}

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
