/** The folder inside a project where what is new waits for its place, and what is old ends up. */
import { chmodSync, lchownSync, mkdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { Anchor, within } from '../../lib/anchor.ts';
import { isErrno } from '../../lib/file.ts';
import type { Journal } from './journal.ts';
import type { Owner } from './plan.ts';

type Where = Pick<Journal, 'project' | 'staging'>;

export function makeStaging({ project, staging }: Where, { uid, gid }: Owner): void {
  within(Anchor.reach(project), (root) => {
    const path = root.at(staging);
    mkdirSync(path, 0o700);
    chmodSync(path, 0o700);
    try {
      lchownSync(path, uid, gid);
    } catch (error) {
      if (!isErrno(error, 'EPERM') && !isErrno(error, 'EINVAL')) throw error;
    }
  });
}

/** Null when it is not there. */
export function openStaging({ project, staging }: Where): Anchor | null {
  try {
    return within(Anchor.reach(project), (root) => root.enter(staging));
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    throw error;
  }
}

/** With files, links and empty folders in it. What somebody has put into one of those stays, and the folder with it. */
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
