/** `carrel-room mcp`: the rooms of a sandbox as tools, for agents that speak MCP. */

import type { Toolset } from '../../../inside/tool-server.ts';
import { Exclusive } from '../../../lib/flow/exclusive.ts';
import { object, type Shape, text, whole } from '../../../model/shape.ts';
import { ulidPattern } from '../../../model/ulid.ts';
import { roomNamePattern } from '../model/room.ts';
import { RoomFiles, roomNames } from './inside.ts';
import { lastNames } from './order-log.ts';
import { post } from './post.ts';
import { unread } from './read.ts';

const postMs = 30_000;
const defaultLimit = 20;

const room = { type: 'string', description: 'Name of the room' };
const roomText = text({ pattern: roomNamePattern, says: 'the name of a room' });

interface Tool {
  readonly description: string;
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
  call(input: unknown): unknown;
}

/** Checks the input before the work begins. */
function tool<T>(about: Omit<Tool, 'call'>, shape: Shape<T>, work: (input: T) => unknown): Tool {
  return { ...about, call: (input) => work(shape(input ?? {}, [])) };
}

const tools: Readonly<Record<string, Tool>> = {
  room_list: tool({ description: 'Rooms of this sandbox', properties: {}, required: [] }, object({}), () =>
    roomNames().map((name) => ({ room: name, unread: unread(new RoomFiles(name)) })),
  ),
  room_read: tool(
    {
      description: 'The last messages of a room, oldest first; they count as read',
      properties: { room, limit: { type: 'integer', minimum: 1, maximum: 1000 } },
      required: ['room'],
    },
    object({ room: roomText }, { limit: whole(1, 1000) }),
    ({ room: name, limit = defaultLimit }) => messagesOf(new RoomFiles(name), limit),
  ),
  room_post: tool(
    {
      description: 'Post a message to a room; answers with its id',
      properties: { room, text: { type: 'string' }, reply_to: { type: 'string', description: 'Id of a message' } },
      required: ['room', 'text'],
    },
    object(
      { room: roomText, text: text({ min: 1, max: 1024 ** 2 }) },
      { reply_to: text({ pattern: ulidPattern, says: 'the id of a message' }) },
    ),
    async ({ room: name, text: body, reply_to: replyTo = null }) => ({
      id: await post(new RoomFiles(name), { text: body, replyTo, attachments: [], waitMs: postMs }),
    }),
  ),
};

function messagesOf(files: RoomFiles, limit: number): object[] {
  const names = lastNames(files.orderLog, limit);
  const last = names.at(-1);
  if (last !== undefined) files.setPosition(last.slice(0, 26));
  return names.flatMap((name) => files.message(name) ?? []);
}

/** One call after the other: an agent that posts and then reads finds its message. */
const calls = new Exclusive();

export const roomTools: Toolset = {
  name: 'carrel-room',
  has: (name) => Object.hasOwn(tools, name),
  list: () => ({
    tools: Object.entries(tools).map(([name, { description, properties, required }]) => {
      return { name, description, inputSchema: { type: 'object', properties, required } };
    }),
  }),
  call: async (name, input) => {
    const answer = await calls.run('all', async () => tools[name]!.call(input));
    return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
  },
};
