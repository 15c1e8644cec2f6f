/** Reading and changing task files. */
import { setImmediate as breathe, setTimeout as pause } from 'node:timers/promises';
import { type Anchor, within } from '../../../lib/file/anchor.ts';
import type { BoundedFile } from '../../../lib/file/bounded-read.ts';
import { Exclusive } from '../../../lib/flow/exclusive.ts';
import { tryLock } from '../../../lib/sys/sys.ts';
import { TokenCount } from '../../../lib/wire/bounded-json.ts';
import { Fault } from '../../../model/fault.ts';
import { taskRefusal } from '../model/task-problem.ts';
import { readTaskText, type StoryChange, type TaskReading, type TaskText, withStories } from '../model/task-text.ts';
import { findTasks, openFolder, readContent, replaceContent, sweepStaged } from './disk.ts';
import { type Account, type TaskPlace, taskPath } from './task.ts';

const defaultLockMs = 2000;
const lockPollMs = 20;
/**
 * Enough for about 1000 stories. The parser keeps positions of values, too: the first file of this size takes 15 ms.
 */
const maxTokens = 20_000;
/** The number of tries before a file that another program saves again and again is a conflict. */
const maxTries = 10;

export class Tasks {
  readonly #locks = new Exclusive();
  readonly #lockMs: number;

  /** `lockMs`: time-out for the lock of another installation. */
  constructor(lockMs = defaultLockMs) {
    this.#lockMs = lockMs;
  }

  find(project: string): TaskPlace[] {
    return findTasks(project);
  }

  /** The file, or its problems. */
  tryRead(place: TaskPlace, account: Account = null): TaskReading {
    return inFolder(place, (folder) => decode(readContent(folder, place, account)));
  }

  /** The file; `invalid` when it has problems. */
  read(place: TaskPlace, account: Account = null): TaskText {
    return sound(place, this.tryRead(place, account));
  }

  /**
   * Makes the changes that `find` returns for the current content; calls it again when another program saved the file
   * meanwhile. Without changes nothing is written.
   */
  change(
    place: TaskPlace,
    find: (task: TaskText) => readonly StoryChange[],
    account: Account = null,
  ): Promise<TaskText> {
    return this.#locks.run(`${place.project}\0${place.folder}`, async () => {
      const folder = open(place);
      try {
        await lock(folder, place, this.#lockMs);
        sweepStaged(folder);
        return await changeIn(folder, place, find, account);
      } finally {
        folder.close();
      }
    });
  }
}

async function changeIn(
  folder: Anchor,
  place: TaskPlace,
  find: (task: TaskText) => readonly StoryChange[],
  account: Account,
): Promise<TaskText> {
  for (let tries = 0; tries < maxTries; tries++) {
    const old = readContent(folder, place, account);
    const task = sound(place, decode(old));
    const changes = find(task);
    if (changes.length === 0) return task;
    const text = withStories(task, changes);
    // Each parse may take long: other requests are answered between them.
    await breathe();
    const changed = sound(place, readTaskText(text));
    if (replaceContent(folder, place.name, old, Buffer.from(text))) return changed;
  }
  throw new Fault('conflict', `${taskPath(place)} is changed by another program all the time`, {
    hint: 'Let the other program finish, then try again.',
  });
}

function sound(place: TaskPlace, reading: TaskReading): TaskText {
  if ('problems' in reading) throw taskRefusal(taskPath(place), reading.problems);
  return reading;
}

function decode({ bytes }: BoundedFile): TaskReading {
  const tokens = new TokenCount('text', maxTokens);
  tokens.push(bytes);
  if (tokens.refusal !== null) return { problems: [{ line: 1, path: '', reason: tokens.refusal }] };
  const text = textOf(bytes);
  return text === null
    ? { problems: [{ line: flawedLine(bytes), path: '', reason: 'not UTF-8' }] }
    : readTaskText(text);
}

function textOf(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function flawedLine(bytes: Buffer): number {
  const text = bytes.toString('utf8');
  return text.slice(0, text.indexOf('\ufffd')).split('\n').length;
}

function open(place: TaskPlace): Anchor {
  const folder = openFolder(place.project, place.folder);
  if (folder === null)
    throw new Fault('not_found', `there is no task file ${taskPath(place)}`, { hint: 'See: carrel task ls' });
  return folder;
}

function inFolder<T>(place: TaskPlace, work: (folder: Anchor) => T): T {
  return within(open(place), work);
}

/** Locks the folder itself, so that no lock file is left in it; other installations do the same. */
async function lock(folder: Anchor, { folder: name }: TaskPlace, lockMs: number): Promise<void> {
  for (let waitedMs = 0; !tryLock(folder.fd); waitedMs += lockPollMs) {
    if (waitedMs >= lockMs) {
      throw new Fault('unavailable', `another program has ${name} locked`, { hint: 'Try again in a moment.' });
    }
    await pause(lockPollMs);
  }
}
