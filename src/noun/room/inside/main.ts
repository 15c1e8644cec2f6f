/** `carrel-room`: the commands for rooms inside a sandbox; they use only the files of a room. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { serveTools } from '../../../inside/tool-server.ts';
import { asFault, Fault, faultTable } from '../../../model/fault.ts';
import { ulidPattern } from '../../../model/ulid.ts';
import { RoomFiles, readStdin, roomNames } from './inside.ts';
import { roomTools } from './mcp.ts';
import { post } from './post.ts';
import { follow, read, unread } from './read.ts';

const usage = `usage:
  carrel-room ls
  carrel-room post ROOM TEXT… | -  [--reply ID] [--attach FILE]… [--wait SECONDS]
  carrel-room read ROOM [--unread] [--limit N] [--json]
  carrel-room follow ROOM [--all] [--json]
  carrel-room mcp`;

const maxTextBytes = 1024 ** 2;

const commands: Readonly<Record<string, (args: string[]) => void | Promise<void>>> = {
  ls: () => {
    for (const name of roomNames()) console.log(`${name}  ${unread(new RoomFiles(name))} unread`);
  },
  post: async (args) => {
    const { values, positionals } = parsed(args, {
      reply: { type: 'string' },
      attach: { type: 'string', multiple: true },
      wait: { type: 'string', default: '30' },
    });
    const [room = '', ...words] = positionals;
    const replyTo = (values.reply as string | undefined) ?? null;
    if (replyTo !== null && !ulidPattern.test(replyTo)) throw wrong('--reply needs the id of a message');
    const text = words.length === 1 && words[0] === '-' ? readStdin(maxTextBytes) : words.join(' ');
    const attachments = (values.attach as string[] | undefined) ?? [];
    const waitMs = count(values.wait as string, '--wait') * 1000;
    console.log(await post(new RoomFiles(room), { text, replyTo, attachments, waitMs }));
  },
  read: (args) => {
    const { values, positionals } = parsed(args, {
      unread: { type: 'boolean' },
      limit: { type: 'string' },
      json: { type: 'boolean' },
    });
    const isUnread = values.unread === true;
    const limit =
      values.limit === undefined ? (isUnread ? Number.MAX_SAFE_INTEGER : 20) : count(values.limit as string, '--limit');
    read(oneRoom(positionals), { isUnread, limit, isJson: values.json === true });
  },
  follow: (args) => {
    const { values, positionals } = parsed(args, { all: { type: 'boolean' }, json: { type: 'boolean' } });
    follow(oneRoom(positionals), { isAll: values.all === true, isJson: values.json === true });
  },
  mcp: () => serveTools(roomTools),
};

function parsed(args: string[], options: NonNullable<ParseArgsConfig['options']>) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw wrong((error as Error).message);
  }
}

function oneRoom(names: readonly string[]): RoomFiles {
  if (names.length !== 1) throw wrong('name one room');
  return new RoomFiles(names[0]!);
}

function count(text: string, option: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw wrong(`${option} needs a number`);
}

function wrong(message: string): Fault {
  return new Fault('invalid', message, { hint: usage });
}

const [name = '', ...rest] = process.argv.slice(2);
process.stdout.on('error', () => process.exit(0));
try {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw wrong(name === '' ? 'name a command' : `there is no command ${name}`);
  await command(rest);
} catch (error) {
  const { code, message, hint } = asFault(error);
  console.error(`carrel-room: ${message}${hint === undefined || hint === null ? '' : `\nhint: ${hint}`}`);
  process.exitCode = faultTable[code].exit;
}
