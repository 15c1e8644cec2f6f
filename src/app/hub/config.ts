/** Of config.yaml: the hub. */
import { z } from 'zod';
import { section } from '../section.ts';

const defaultIdleMinutes = 30;

const schema = z
  .strictObject({
    idleMinutes: z
      .number()
      .min(0.01)
      .max(7 * 24 * 60)
      .meta({
        description: 'The sandbox of a project stops when no tool used it for so long.',
        default: defaultIdleMinutes,
        examples: [120],
      }),
  })
  .partial()
  .describe('The hub.');

export const hubConfig = [
  section('hub', {
    schema: schema.optional(),
    read: (content) => ({ hub: { idleMinutes: content?.idleMinutes ?? defaultIdleMinutes } }),
  }),
] as const;
