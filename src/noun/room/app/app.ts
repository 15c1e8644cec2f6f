/**
 * The rooms of a user: folders of messages, and the watchers that handle them. The format and the rules are in
 * `docs/formats/room.md`; `noun/room/room.ts` keeps them.
 *
 * Life cycle: created, in the home or in a folder that the owner names → opened after each start of the daemon, because
 * files may lie in inboxes → posts, reads, followers → removed, with its messages. A folder that was named stays.
 *
 * Promises:
 * - A post is on disk when it is answered. Its sender is the caller: a user, a sandbox, a token or a webhook, never what a
 *   message claims.
 * - A watcher handles the messages for it in their order, one at a time, and the next daemon continues where it was. What
 *   fails too often goes to `dead/` of the room (`watch/watch.ts`).
 * - A sandbox gets the rooms of its spec, each with an inbox of its own (`sandbox-rooms.ts`).
 * - A room of a sandbox is removed only with `force`. Watchers that run a program of the host or call a webhook are for
 *   the owner.
 */
import { z } from 'zod';
import type { ProbeRow } from '../../../kernel/engine/engine.ts';
import { declare, definedDetail, named, type SseEvent } from '../../../kernel/server/route.ts';
import { count, flag } from '../../../lib/schema/query.ts';
import { ulidPattern } from '../../../model/ulid.ts';
import * as shape from '../api.ts';
import type { RoomMessage } from '../model/room.ts';
import { roomConfig } from './config.ts';
import type { UserRooms } from './user-rooms.ts';
import type { UserWatches } from './watch/user-watches.ts';
import type { Webhooks } from './webhooks.ts';

export interface RoomScope {
  readonly rooms: UserRooms;
  readonly watches: UserWatches;
  readonly webhooks: Pick<Webhooks, 'of'>;
  readonly liveRooms: { start(): void };
  readonly watchers: { start(): void };
}

const { noun, route } = declare<RoomScope>();

export const room = noun({
  config: roomConfig,
  routes: [
    route('GET /v1/rooms', {
      id: 'listRooms',
      summary: 'The rooms of the user',
      answer: z.array(shape.roomView),
      act: null,
      handle: ({ scope }) => scope.rooms.list(),
    }),
    route('POST /v1/rooms', {
      id: 'createRoom',
      summary: 'Create a room, or open the one that is in the folder `at`',
      body: shape.roomRequest,
      answer: shape.roomView,
      act: ({ body: { name, at, keepDays, keepMessages } }) => ({
        verb: 'room.create',
        names: [name],
        words: { 'the name': [name] },
        detail: definedDetail({ at, keepDays, keepMessages }),
      }),
      handle: ({ scope, body }) => scope.rooms.create(body),
    }),
    route('GET /v1/rooms/{name}', {
      id: 'showRoom',
      summary: 'One room; with `repair`, after each of its files was compared with its messages',
      query: z.strictObject({ repair: flag.optional() }),
      answer: shape.roomDetailView,
      act: null,
      handle: async ({ scope, name, query }) => ({
        ...(await scope.rooms.show(name, query.repair ?? false)),
        webhooks: scope.webhooks.of(name),
      }),
    }),
    route('DELETE /v1/rooms/{name}', {
      id: 'removeRoom',
      summary: 'Remove a room with its messages; a folder that was named at its creation stays',
      query: z.strictObject({ force: flag.optional() }),
      answer: shape.removedRoomView,
      act: named('room.remove', true),
      handle: ({ scope, name, query }) => scope.rooms.remove(name, query.force ?? false),
    }),
    // The room itself is the record of posts and of read positions.
    route('POST /v1/rooms/{name}/messages', {
      id: 'postMessage',
      summary: 'Post a message as this user; it is on disk when the request is answered',
      body: shape.messageRequest,
      answer: shape.messageView,
      act: null,
      handle: ({ scope, name, body }) => scope.rooms.post(name, body),
    }),
    route('GET /v1/rooms/{name}/messages', {
      id: 'readMessages',
      summary:
        'Messages in the order of the room: the newest, or the first after an id, or the first that are unread, or archived ones, or those with all words of `search`',
      query: z.strictObject({
        after: shape.messageId.optional(),
        limit: count.optional(),
        unread: flag.optional(),
        archived: flag.optional(),
        search: z.string().min(1).max(1000).optional(),
      }),
      answer: z.array(shape.messageView).readonly(),
      act: null,
      handle: ({ scope, name, query }) => scope.rooms.read(name, query),
    }),
    route('GET /v1/rooms/{name}/follow', {
      id: 'followRoom',
      summary:
        'Messages after an id, then new ones (server-sent events; honours Last-Event-ID); without an id new ones only',
      query: z.strictObject({ after: shape.messageId.optional() }),
      answer: 'sse',
      act: null,
      handle: async ({ scope, name, query, lastEventId, signal }) => {
        scope.rooms.find(name);
        const after = lastEventId !== undefined && ulidPattern.test(lastEventId) ? lastEventId : query.after;
        return sent(scope.rooms.follow(name, after, signal));
      },
    }),
    route('GET /v1/rooms/{name}/refused', {
      id: 'listRefused',
      summary: 'What was refused and is kept in dead/, the newest first, with the reasons',
      query: z.strictObject({ limit: count.optional() }),
      answer: z.array(shape.refusalView).readonly(),
      act: null,
      handle: ({ scope, name, query }) => scope.rooms.refused(name, query.limit),
    }),
    route('GET /v1/rooms/{name}/members', {
      id: 'listMembers',
      summary: 'The participants of a room',
      answer: z.array(shape.memberView).readonly(),
      act: null,
      handle: ({ scope, name }) => scope.rooms.members(name),
    }),
    route('POST /v1/rooms/{name}/members', {
      id: 'changeMembers',
      summary: 'Add a participant outside Carrel, or remove one; it is added again when it posts again',
      body: shape.membersRequest,
      answer: z.array(shape.memberView).readonly(),
      act: ({ name, body: { add, remove } }) => ({
        verb: 'room.members',
        names: [name],
        words: { 'the name': [add, remove] },
        detail: definedDetail({ add, remove }),
      }),
      handle: ({ scope, name, body }) => scope.rooms.changeMembers(name, body),
    }),
    route('POST /v1/rooms/{name}/position', {
      id: 'setPosition',
      summary: 'Record the last message that the user has read; a position only goes forward',
      body: shape.positionRequest,
      answer: shape.positionView,
      act: null,
      handle: ({ scope, name, body }) => scope.rooms.setPosition(name, body.id),
    }),
    route('GET /v1/rooms/{name}/watchers', {
      id: 'listWatchers',
      summary: 'The watchers of a room',
      answer: z.array(shape.watchView),
      act: null,
      handle: async ({ scope, name }) => scope.watches.list(scope.rooms.row(name)),
    }),
    route('POST /v1/rooms/{name}/watchers', {
      id: 'watchRoom',
      summary:
        'Handle messages from now on: by a program of the host, a webhook (both for the owner), or an agent in a sandbox',
      body: shape.watchRequest,
      answer: shape.watchView,
      act: ({ name, body: { who, run, webhook, wake } }) => ({
        verb: 'room.watch',
        names: [name, who],
        words: { 'the command': [...(run ?? []), ...(wake?.command ?? []), webhook] },
        detail: definedDetail({ program: run?.[0] ?? wake?.command?.[0] ?? wake?.agent, webhook }),
      }),
      handle: ({ scope, name, body }) => scope.watches.add(scope.rooms.row(name), body),
    }),
    route('POST /v1/rooms/{name}/watchers/remove', {
      id: 'unwatchRoom',
      summary: 'Remove a watcher; what it does now is ended',
      body: shape.watcherRequest,
      answer: shape.watchView,
      act: ({ name, body: { who } }) => ({ verb: 'room.unwatch', names: [name, who] }),
      handle: ({ scope, name, body }) => scope.watches.remove(scope.rooms.row(name), body.who),
    }),
    route('POST /v1/rooms/{name}/watchers/resume', {
      id: 'resumeWatcher',
      summary: 'Let a paused watcher continue with the messages after the one at which it paused',
      body: shape.watcherRequest,
      answer: shape.watchView,
      act: ({ name, body: { who } }) => ({ verb: 'room.resume', names: [name, who] }),
      handle: async ({ scope, name, body }) => scope.watches.resume(scope.rooms.row(name), body.who),
    }),
  ],
  start: ({ liveRooms, watchers }) => {
    liveRooms.start();
    watchers.start();
  },
  examine: async ({ rooms }) => (await rooms.list()).filter(({ trouble }) => trouble !== null).map(problem),
});

async function* sent(messages: AsyncIterable<RoomMessage>): AsyncGenerator<SseEvent> {
  for await (const message of messages) yield { id: message.id, event: 'message', data: JSON.stringify(message) };
}

function problem({ name, trouble }: { readonly name: string; readonly trouble: string | null }): ProbeRow {
  return { name: `room ${name}`, level: 'failure', detail: trouble!, hint: `See: carrel room show ${name}` };
}
