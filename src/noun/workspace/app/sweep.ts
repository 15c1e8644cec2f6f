/**
 * Removes what a crash left unfinished on disk. Only what is marked as such: a folder that merely has no record may be
 * all that is left of a user's work.
 */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Home } from '../../../kernel/home/home.ts';
import { removeTree } from '../../../lib/file/file.ts';

/** The name of a file that marks the folder of a fork until the fork is recorded. */
export const forkingMark = 'forking';

/** Called before the daemon answers. */
export async function sweepFolders(home: Home, isRecorded: (id: string) => boolean): Promise<void> {
  // The folder itself stays, so that a start needs no space.
  await removeThose(home.scratch, () => true);
  mkdirSync(home.scratch, { recursive: true, mode: 0o700 });
  const sandboxes = dirname(home.sandbox('any'));
  await removeThose(sandboxes, (name) => existsSync(join(sandboxes, name, forkingMark)) && !isRecorded(name));
  await removeThose(dirname(home.base('any')), (name) => name.includes('.new'));
}

async function removeThose(folder: string, isUnfinished: (name: string) => boolean): Promise<void> {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) if (isUnfinished(name)) await removeTree(join(folder, name));
}
