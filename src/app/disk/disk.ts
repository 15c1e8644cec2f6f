/** Protection against a full disk. It has no routes: the daemon watches. */
import { z } from 'zod';
import { declare } from '../route.ts';
import { bytes, section } from '../section.ts';

const { noun } = declare<object>();

const schema = z
  .strictObject({
    keepFree: z.union([z.string(), z.int().min(0)]).meta({
      title: 'size',
      description:
        'Space that stays free on the disk of the home. When less is free, the daemon stops the sandbox that grew most. `0` turns this off. Default: a fiftieth of the disk, at least 64m, at most 512m.',
      examples: ['2g'],
    }),
  })
  .describe('Protection against a full disk.');

export const disk = noun({
  routes: [],
  config: [
    section('disk', {
      schema: schema.optional(),
      /** Null: decided by the size of the disk. */
      read: (content, at) => ({
        keepFreeBytes: at('disk.keepFree', () => (content ? bytes(content.keepFree, 'disk.keepFree') : null)),
      }),
    }),
  ],
});
