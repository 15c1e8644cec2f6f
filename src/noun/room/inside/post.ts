/** Posts a message as a file that is renamed into the inbox when it is complete, and waits for the outcome. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { copyDurably, isErrno } from '../../../lib/file/file.ts';
import { Fault } from '../../../model/fault.ts';
import { ulidPattern } from '../../../model/ulid.ts';
import type { RoomFiles } from './inside.ts';

export interface Post {
  readonly text: string;
  readonly replyTo: string | null;
  readonly attachments: readonly string[];
  readonly waitMs: number;
}

/** Resolves to the id of the message. */
export async function post(room: RoomFiles, { text, replyTo, attachments, waitMs }: Post): Promise<string> {
  const name = randomBytes(12).toString('hex');
  const fresh = join(room.inbox, `.new-${name}`);
  const content = `${headOf(text, replyTo)}${text}`;
  const fd = writable(room, () => written(fresh, content, attachments));
  try {
    renameSync(fresh, join(room.inbox, attachments.length === 0 ? `${name}.md` : name));
    return await outcomeOf(fd, waitMs);
  } finally {
    closeSync(fd);
  }
}

/** A text that begins like front matter gets real front matter before it, so that it is read as text. */
function headOf(text: string, replyTo: string | null): string {
  if (replyTo !== null) return `---\nreply_to: ${replyTo}\n---\n`;
  return text.startsWith('---\n') ? '---\nvia: inbox\n---\n' : '';
}

/** Writes the message and its attachments. Returns the message file, open for reading. */
function written(fresh: string, content: string, attachments: readonly string[]): number {
  if (attachments.length === 0) return writtenFile(fresh, content);
  try {
    mkdirSync(fresh);
    for (const file of attachments) copySynced(file, join(fresh, basename(file)));
    return writtenFile(join(fresh, 'message.md'), content);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    throw error;
  }
}

function writtenFile(path: string, content: string): number {
  const fd = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(fd, content);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return openSync(path, 'r');
}

function copySynced(from: string, to: string): void {
  try {
    copyDurably(from, to);
  } catch (error) {
    if (isErrno(error, 'EEXIST'))
      throw new Fault('invalid', `two attachments have the name ${basename(from)}`, { hint: 'Rename one of them.' });
    throw error;
  }
}

function writable<T>(room: RoomFiles, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!isErrno(error, 'EROFS') && !isErrno(error, 'EACCES')) throw error;
    throw new Fault('denied', `this sandbox may read the room ${room.name}, but not post to it`, { cause: error });
  }
}

const longestWaitMs = 100;
const firstLineBytes = 4096;

/** The daemon writes the outcome into the file and then removes its last name. */
async function outcomeOf(fd: number, waitMs: number): Promise<string> {
  const until = performance.now() + waitMs;
  for (let pauseMs = 1; fstatSync(fd).nlink > 0; pauseMs = Math.min(pauseMs * 2, longestWaitMs)) {
    if (performance.now() > until)
      throw new Fault('timeout', 'the daemon has not accepted the message yet', {
        hint: 'It stays in the inbox, and is posted when the daemon runs again. Do not post it twice.',
      });
    await sleep(pauseMs);
  }
  const buffer = Buffer.alloc(firstLineBytes);
  const line = buffer.toString('utf8', 0, readSync(fd, buffer, 0, firstLineBytes, 0)).split('\n', 1)[0]!;
  if (ulidPattern.test(line)) return line;
  throw new Fault('denied', `the room refused the message: ${line.replace(/^refused: /, '')}`);
}
