/** Section `events` of config.yaml: how many events are kept. */
import { z } from 'zod';
import { section } from '../../../../kernel/settings/section.ts';
import { defaultMaxEvents } from '../../../../kernel/store/store.ts';

export const eventConfig = [
  section('events', {
    schema: z
      .strictObject({
        keep: z
          .int()
          .min(1000)
          .max(10_000_000)
          .meta({
            description: 'How many events are kept.',
            default: defaultMaxEvents,
            examples: [20_000],
          }),
      })
      .optional()
      .describe('Events.'),
    read: (content) => ({ maxEvents: content?.keep ?? defaultMaxEvents }),
    atStart: { maxEvents: 'events.keep' },
  }),
] as const;
