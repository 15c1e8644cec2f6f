/** Section `share` of config.yaml: where other users connect. */
import { z } from 'zod';
import { path, section } from '../../../kernel/settings/section.ts';

export const userConfig = [
  section('share', {
    schema: z
      .strictObject({
        socket: path.meta({
          description: 'A socket for users with a token. Default: none.',
          examples: ['/run/carrel/shared.sock'],
        }),
      })
      .optional()
      .describe('Access for other users of the machine (`carrel user add`).'),
    read: (content) => ({ sharedSocket: content?.socket ?? null }),
    atStart: { sharedSocket: 'share.socket' },
  }),
] as const;
