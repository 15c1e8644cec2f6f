/**
 * The rooms of a sandbox, as its programs see them: folders of files, with no connection to the daemon.
 *
 * `carrel-room` posts by renaming a complete file, or a folder with attachments, into its inbox; the daemon takes it out
 * and writes the outcome into the same file, from which `post` reads the id of the message. It reads messages from
 * `processed`, in the order of `order.log`. The read position is a file in the inbox; a room that is read-only here keeps
 * none. `mcp` offers posts, replies and the last messages as tools. A text that begins like front matter is posted as text, never as front matter.
 */
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno, readIfThere } from '../../../lib/file/file.ts';
import { Fault } from '../../../model/fault.ts';
import { ulidPattern } from '../../../model/ulid.ts';
import { roomsFolder } from '../model/grant.ts';
import { roomNamePattern } from '../model/room.ts';

export interface ReadMessage {
  readonly id: string;
  readonly from: string;
  readonly at: string;
  readonly mentions: readonly string[];
  readonly replyTo: string | null;
  readonly via: string;
  readonly attachments: readonly string[];
  readonly body: string;
}

export class RoomFiles {
  readonly name: string;
  readonly folder: string;

  constructor(name: string) {
    this.name = name;
    this.folder = join(allRooms(), name);
    if (roomNamePattern.test(name) && existsSync(this.folder)) return;
    const known = roomNames();
    throw new Fault('not_found', `there is no room ${JSON.stringify(name)} here`, {
      hint: known.length === 0 ? 'This sandbox has no rooms.' : `Rooms of this sandbox: ${known.join(', ')}.`,
    });
  }

  get inbox(): string {
    return join(this.folder, 'inbox');
  }

  get orderLog(): string {
    return join(this.folder, 'order.log');
  }

  /** Null: retention has moved it to the archive. */
  message(fileName: string): ReadMessage | null {
    const text = readIfThere(join(this.folder, 'processed', fileName));
    return text === null ? null : parseMessage(text);
  }

  /** The id of the last message that was read. */
  get position(): string | null {
    const id = readIfThere(join(this.inbox, '.read'))?.trim() ?? '';
    return ulidPattern.test(id) ? id : null;
  }

  /** The position is kept in the inbox; in a room that is read-only here it is not kept. */
  setPosition(id: string): void {
    if (id <= (this.position ?? '')) return;
    const fresh = join(this.inbox, `.read.${process.pid}`);
    try {
      writeFileSync(fresh, `${id}\n`);
      renameSync(fresh, join(this.inbox, '.read'));
    } catch (error) {
      if (!this.#isReadOnly(error)) throw error;
    }
  }

  #isReadOnly(error: unknown): boolean {
    return isErrno(error, 'EROFS') || isErrno(error, 'EACCES');
  }
}

function allRooms(): string {
  return process.env.ROOMS_DIR ?? roomsFolder;
}

export function roomNames(): string[] {
  try {
    return readdirSync(allRooms()).filter((name) => statSync(join(allRooms(), name)).isDirectory());
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Only the daemon writes these files, with one field a line. */
export function parseMessage(text: string): ReadMessage {
  const end = text.indexOf('\n---\n', 3);
  const lines = text.slice('---\n'.length, end).split('\n');
  const fields = new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]));
  const field = (name: string) => unquoted(fields.get(name) ?? '');
  return {
    id: field('id'),
    from: field('from'),
    at: field('at'),
    mentions: list(fields.get('mentions')),
    replyTo: fields.has('reply_to') ? field('reply_to') : null,
    via: field('via'),
    attachments: list(fields.get('attachments')),
    body: text.slice(end + '\n---\n'.length),
  };
}

const item = /"(?:[^"\\]|\\.)*"|[^,\s[\]]+/g;

function list(text = '[]'): string[] {
  return (text.match(item) ?? []).map(unquoted);
}

function unquoted(text: string): string {
  return text.startsWith('"') ? (JSON.parse(text) as string) : text;
}

export function readStdin(maxBytes: number): string {
  const bytes = readFileSync(0);
  if (bytes.length > maxBytes) throw new Fault('invalid', `the text is longer than ${maxBytes} bytes`);
  return bytes.toString('utf8');
}
