/**
 * Task files on the host, in `.carrel/tasks` and `.aimi/tasks` of a project, named `YYYY-MM-DD-<feature>-tasks.json`.
 *
 * A project may hold what an agent wrote. Folders are opened one by one and never through a link; a file is read when it is
 * an ordinary file of a size that task files have, and belongs to the account that asks, where one is named.
 *
 * Only the daemon changes them, one change in a folder at a time, also when two installations have the same project. A change is
 * whole or not at all: staged beside the file, synced, exchanged with it, and then what came out must be what the change was
 * made from. If somebody saved the file in between, it goes back, and the change is made again from what is there now. What a
 * crash leaves is removed by the next change, if it is ours; what is somebody else's is kept.
 *
 * Faults: `not_found`; `invalid` with every problem, its line and its path; `denied` for links and others' files; `conflict` for
 * illegal transitions, and where somebody keeps changing the file; `unavailable` while another installation is at it.
 */
import { basename, dirname, join } from 'node:path';
import { Fault } from '../model/fault.ts';
import { printable } from '../model/name.ts';
import { taskFileNamePattern, taskFolders } from '../model/task.ts';

/** A task file by its names: the project's real folder, the folder in it, its own name. */
export interface TaskPlace {
  readonly project: string;
  readonly folder: (typeof taskFolders)[number];
  readonly name: string;
}

/** Whose files may be read and changed; null: anybody's. */
export type Account = number | null;

/** As people write it, from the project's folder. */
export function taskPath({ folder, name }: TaskPlace): string {
  return join(folder, name);
}

/** Which task file an absolute path speaks of; the project in it is as it was written. */
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
