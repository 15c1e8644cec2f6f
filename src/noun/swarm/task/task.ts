/**
 * Task files on the host, in `.carrel/tasks` and `.aimi/tasks` of a project, named `YYYY-MM-DD-<feature>-tasks.json`.
 *
 * A project may contain files that an agent wrote. Folders are opened one by one and never through a link; only
 * ordinary files up to the size of task files are read, and if an account is named, only its files.
 *
 * Only the daemon changes them, one change in a folder at a time, even if two installations have the same project. A
 * change is whole or not at all: staged beside the file, synced, exchanged with it, and then the content that came out
 * must be the one that the change was made from. If another program saved the file in between, its version goes back,
 * and the change is made again from that. The next change removes staged files that a crash left, and no others.
 *
 * Faults: `not_found`; `invalid` with every problem, its line and its path; `denied` for links and files of other accounts;
 * `conflict` for illegal transitions, and if another program keeps changing the file; `unavailable` while another
 * installation has the folder locked.
 */
import { basename, dirname, join } from 'node:path';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { taskFileNamePattern, taskFolders } from '../model/task.ts';

/** A task file by its names: the project's real folder, the folder in it, its own name. */
export interface TaskPlace {
  readonly project: string;
  readonly folder: (typeof taskFolders)[number];
  readonly name: string;
}

/** The host uid whose files may be read and changed; null: any. */
export type Account = number | null;

/** The path of the task file, relative to the project's folder. */
export function taskPath({ folder, name }: TaskPlace): string {
  return join(folder, name);
}

/** The task file of an absolute path; the project in it is not resolved. */
export function placeOf(path: string): TaskPlace {
  const folder = taskFolders.find((one) => dirname(path).endsWith(`/${one}`));
  const name = basename(path);
  if (folder === undefined) {
    throw new Fault('invalid', `${printable(path)} is not where task files are`, {
      hint: `Task files are in ${taskFolders.join(' or ')} of a project.`,
    });
  }
  if (!taskFileNamePattern.test(name)) {
    throw new Fault('invalid', `${printable(name)} is not the name of a task file`, {
      hint: 'Name it like 2026-01-31-login-tasks.json.',
    });
  }
  return { project: dirname(path).slice(0, -(folder.length + 1)) || '/', folder, name };
}
