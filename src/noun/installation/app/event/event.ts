/**
 * The events of the store, read once or followed. A user gets the events that this user may see, in the order of their
 * numbers. The oldest are not kept for ever: `events.dropped` stands for those that are gone after the number that a
 * request names, so a client that continues misses none silently.
 */
import { z } from 'zod';
import { declare } from '../../../../kernel/server/route.ts';
import { section } from '../../../../kernel/settings/section.ts';
import { defaultMaxEvents } from '../../../../kernel/store/store.ts';
import { count } from '../../../../lib/schema/query.ts';
import * as shape from '../../api/event.ts';
import { type EventSource, eventsAfter, followEvents } from './feed.ts';

export interface EventScope {
  readonly store: EventSource;
}

/** Section `events` of config.yaml: how many events are kept. */
const eventConfig = [
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

const { noun, route } = declare<EventScope>();

export const event = noun({
  config: eventConfig,
  routes: [
    route('GET /v1/events', {
      id: 'events',
      summary: 'Events after a sequence number; `events.dropped` says which of them are no longer kept',
      query: z.strictObject({ after: count.optional(), limit: count.optional() }),
      answer: z.array(shape.eventView),
      act: null,
      handle: ({ actor, scope, query }) => eventsAfter(scope.store, actor, query.after, query.limit),
    }),
    route('GET /v1/events/stream', {
      id: 'followEvents',
      summary: 'Events after a sequence number, then as they happen (server-sent events; honours Last-Event-ID)',
      query: z.strictObject({ after: count.optional() }),
      answer: 'sse',
      act: null,
      handle: async ({ actor, scope, query, lastEventId, signal }) =>
        followEvents(scope.store, actor, { after: query.after, lastEventId, signal }),
    }),
  ],
});
