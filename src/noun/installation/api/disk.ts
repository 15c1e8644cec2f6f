/** How an installation uses disk space. */
import { z } from 'zod';
import { spaceKinds } from '../model.ts';

export const diskView = z.strictObject({
  home: z.string(),
  freeBytes: z.int(),
  uses: z.array(
    z.strictObject({
      kind: z.enum(spaceKinds),
      /** The name of the sandbox, volume or file; null: all of this kind. */
      name: z.string().nullable(),
      sizeBytes: z.int(),
    }),
  ),
});

export type DiskView = z.output<typeof diskView>;
