/**
 * Disk space: where it goes, and protection against a full disk. When less is free than `disk.keepFree`, the sandbox that
 * grew most is stopped, never removed (`disk-watch.ts`); if something else fills the disk, none is.
 */
import { z } from 'zod';
import { declare } from '../../../../kernel/server/route.ts';
import { bytes, section } from '../../../../kernel/settings/section.ts';
import { requireOwner } from '../../../../model/user.ts';
import type { DiskView } from '../../api/disk.ts';
import { diskView } from '../../api/disk.ts';

export interface DiskScope {
  readonly diskUse: () => Promise<DiskView>;
}

const { noun, route } = declare<DiskScope>();

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
  routes: [
    route('GET /v1/disk', {
      id: 'diskUse',
      summary: 'The disk space of the installation, by what uses it; for the owner',
      answer: diskView,
      act: null,
      handle: async ({ scope, actor }) => {
        requireOwner(actor);
        return scope.diskUse();
      },
    }),
  ],
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
