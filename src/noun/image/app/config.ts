/** Section `images` of config.yaml: images that sandboxes may be made of. */
import { z } from 'zod';
import { section } from '../../../kernel/settings/section.ts';

export const imageConfig = [
  section('images', {
    schema: z
      .array(z.string().min(1).max(512))
      .max(1000)
      .optional()
      .meta({
        description: 'Images that `--image` accepts: `NAME`, or `NAME@sha256:…` for that content alone.',
        default: [],
        examples: [['debian:12', 'node:22']],
      }),
    read: (images): { images: readonly string[] } => ({ images: images ?? [] }),
  }),
] as const;
