/** `carrel-room mcp`: the rooms of a sandbox as tools, for agents that speak MCP. JSON-RPC by lines, on stdin and stdout. */
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { asFault } from '../../model/fault.ts';
import { roomNamePattern } from '../../model/room.ts';
import { object, type Shape, text, whole } from '../../model/shape.ts';
import { ulidPattern } from '../../model/ulid.ts';
import { lastNames } from './order.ts';
import { post } from './post.ts';
import { unread } from './read.ts';
import { RoomFiles, roomNames } from './room.ts';

const version = '2025-06-18';
const codes = { methodNotFound: -32_601, invalidParams: -32_602 } as const;
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

interface Request {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly arguments?: unknown };
}

class RpcFault extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const methods: Readonly<Record<string, (params: Request['params']) => unknown>> = {
  initialize: () => ({
    protocolVersion: version,
    capabilities: { tools: {} },
    serverInfo: { name: 'carrel-room', version: '0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: Object.entries(tools).map(([name, { description, properties, required }]) => {
      return { name, description, inputSchema: { type: 'object', properties, required } };
    }),
  }),
  'tools/call': (params) => called(params?.name ?? '', params?.arguments),
};

async function called(name: string, input: unknown): Promise<object> {
  if (!Object.hasOwn(tools, name)) throw new RpcFault(codes.invalidParams, `there is no tool ${name.slice(0, 100)}`);
  try {
    return said(JSON.stringify(await tools[name]!.call(input)));
  } catch (error) {
    const { message, hint } = asFault(error);
    return { ...said(hint ? `${message}\nhint: ${hint}` : message), isError: true };
  }
}

function said(words: string): object {
  return { content: [{ type: 'text', text: words }] };
}

/** Serves until the input ends. */
export async function serveMcp(input: Readable, output: Writable): Promise<void> {
  for await (const line of createInterface({ input })) {
    const answer = await answerTo(line);
    if (answer !== null) output.write(`${JSON.stringify({ jsonrpc: '2.0', ...answer })}\n`);
  }
}

/** Null: a notification, or no JSON. */
async function answerTo(line: string): Promise<object | null> {
  const request = parsed(line);
  const { id, method = '', params } = request ?? {};
  if (id === undefined) return null;
  try {
    if (!Object.hasOwn(methods, method)) throw new RpcFault(codes.methodNotFound, `there is no method ${method}`);
    return { id, result: await methods[method]!(params) };
  } catch (error) {
    const { code = codes.invalidParams, message } = error as Partial<RpcFault>;
    return { id, error: { code, message } };
  }
}

function parsed(line: string): Request | null {
  try {
    return JSON.parse(line) as Request | null;
  } catch {
    return null;
  }
}
