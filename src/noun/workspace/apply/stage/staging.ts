/**
 * The folder inside a project where new entries are staged, and where the old ones are after the exchange. It belongs to the
 * daemon's account: the owner of the project, whose account an agent may have, cannot enter it unless the accounts are equal.
 */
import { mkdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { Anchor, within } from '../../../../lib/file/anchor.ts';
import { isErrno } from '../../../../lib/file/file.ts';
import { statOf } from '../../../../lib/sys/stat.ts';
import { fromText } from '../../../../model/byte-path.ts';
import { pathOf } from '../../tree/folders.ts';
import { setMode, withNewEntryOpen } from '../../tree/open-entry.ts';
import { unlessGone } from '../../tree/tree.ts';
import type { Journal } from '../journal.ts';

type Where = Pick<Journal, 'project' | 'staging'>;

/** Sets the mode again, since the umask and the project's folder influence it. */
export function makeStaging({ project, staging }: Where): void {
  within(Anchor.reach(project), (folder) => {
    const location = { folder, name: fromText(staging) };
    mkdirSync(pathOf(location), 0o700);
    withNewEntryOpen(location, 'folder', (fd) => {
      if ((statOf(fd).mode & 0o7777n) !== 0o700n) setMode(fd, 0o700);
    });
  });
}

/** Null: the folder does not exist, or a link is in its place. */
export function openStaging({ project, staging }: Where): Anchor | null {
  return unlessGone(() => within(Anchor.reach(project), (root) => root.enter(staging)));
}

export function isStaged(where: Where): boolean {
  const folder = openStaging(where);
  folder?.close();
  return folder !== null;
}

/**
 * Removes the staging folder with the files, links and empty folders in it. A folder that is not empty stays, and the
 * staging folder with it.
 */
export function removeStaging(where: Where): void {
  const folder = openStaging(where);
  if (folder === null) return;
  within(folder, (staging) => {
    for (const name of staging.names())
      if (staging.look(name)?.isDirectory()) removeFolder(staging.at(name));
      else unlinkSync(staging.at(name));
  });
  within(Anchor.reach(where.project), (root) => removeFolder(root.at(where.staging)));
}

function removeFolder(path: Buffer): void {
  try {
    rmdirSync(path);
  } catch (error) {
    if (!isErrno(error, 'ENOTEMPTY')) throw error;
  }
}
