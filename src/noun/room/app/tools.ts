/** Tools for rooms: messages between agents, people and services. */
import { z } from 'zod';
import { type HubTool, tool } from '../../hub/app/tool/tool.ts';
import type { RoomMessage } from '../model/room.ts';

const room = z.string().min(1).max(64).describe('name of a room');
const id = z.string().max(26);
const limit = z.int().min(1).max(200).default(50);
const maxWaitSeconds = 300;

const message = z.object({
  id: z.string(),
  from: z.string(),
  at: z.string(),
  mentions: z.array(z.string()),
  reply_to: z.string().nullable(),
  attachments: z.array(z.string()),
  body: z.string(),
});
const page = z.object({ messages: z.array(message), last_id: z.string().nullable() });

export const roomTools: readonly HubTool[] = [
  tool({
    name: 'room_post',
    group: 'rooms',
    description: 'Post a message to a room. @name mentions a participant. It is on disk when this answers.',
    changes: true,
    destroys: false,
    input: z.strictObject({
      room,
      body: z.string().min(1).max(1_000_000),
      reply_to: id.optional().describe('id of a message'),
      key: z
        .string()
        .min(1)
        .max(100)
        .optional()
        .describe('the same key twice is one message, so a call can be repeated'),
    }),
    output: z.object({ id: z.string(), from: z.string() }),
    run: async ({ room: name, body, reply_to, key }, scope) => {
      const posted = await scope.rooms.post(name, { body, replyTo: reply_to ?? null, key: key ?? null });
      return { id: posted.id, from: posted.from };
    },
  }),
  tool({
    name: 'room_read',
    group: 'rooms',
    description: 'The newest messages of a room, or the first after an id.',
    changes: false,
    destroys: false,
    input: z.strictObject({ room, after: id.optional(), limit }),
    output: page,
    run: async ({ room: name, after, limit: most }, scope) =>
      pageOf(await scope.rooms.read(name, after ?? null, most), after),
  }),
  tool({
    name: 'room_follow',
    group: 'rooms',
    description: 'Wait for messages of a room after an id, or after now. Call it again with last_id for the next ones.',
    changes: false,
    destroys: false,
    input: z.strictObject({
      room,
      after: id.optional(),
      limit,
      timeout: z.int().min(1).max(maxWaitSeconds).default(30),
    }),
    output: page,
    run: async ({ room: name, after, limit: most, timeout }, scope, call) => {
      const signal = AbortSignal.any([call.signal, AbortSignal.timeout(timeout * 1000)]);
      return pageOf(await scope.rooms.follow(name, after ?? null, most, signal), after);
    },
  }),
];

function pageOf(messages: readonly RoomMessage[], after: string | undefined): z.output<typeof page> {
  return { messages: messages.map(shown), last_id: messages.at(-1)?.id ?? after ?? null };
}

function shown({ id: one, from, at, mentions, replyTo, attachments, body }: RoomMessage): z.output<typeof message> {
  const files = attachments.map(({ name }) => name);
  return { ...{ id: one, from, at, body, reply_to: replyTo }, mentions: [...mentions], attachments: files };
}
