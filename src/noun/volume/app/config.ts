/** Section `volumes` of config.yaml: names of volumes. */
import { z } from 'zod';
import { section } from '../../../kernel/settings/section.ts';
import { checkVolumePrefix, defaultVolumePrefix } from '../model.ts';

export const volumeConfig = [
  section('volumes', {
    schema: z
      .strictObject({
        prefix: z.string().meta({
          description: 'The first part of the names of volumes.',
          default: defaultVolumePrefix,
          examples: ['lab'],
        }),
      })
      .optional()
      .describe('Volumes.'),
    read: (content, at) => ({
      volumePrefix: at('volumes.prefix', () => checkVolumePrefix(content?.prefix ?? defaultVolumePrefix)),
    }),
    atStart: { volumePrefix: 'volumes.prefix' },
  }),
] as const;
