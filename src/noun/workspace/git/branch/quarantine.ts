/**
 * New objects for the project's repository are made in a separate repository beside it, on the same filesystem, and
 * moved over by renames when all of them are complete. A failure, above all a full disk, leaves nothing behind.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, realpathSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Anchor, within } from '../../../../lib/file/anchor.ts';
import { isErrno, removeTree } from '../../../../lib/file/file.ts';
import { type BytePath, fromText, toBytes } from '../../../../model/byte-path.ts';
import { setOwner, withNewEntryOpen } from '../../tree/open-entry.ts';
import { gitOutput, quoted } from '../git.ts';
import type { ProjectGit } from '../project-git.ts';

export interface Quarantine {
  /** Git that reads the project's objects and writes none of them. */
  readonly git: ProjectGit;
  /** Moves the new objects to the project; the returned function removes them again. */
  release(): () => void;
}

/** The name that git uses for such folders: `git prune` removes what a crash leaves of them. */
const prefix = 'tmp_objdir-carrel-';

export async function withQuarantine<T>(git: ProjectGit, work: (quarantine: Quarantine) => Promise<T>): Promise<T> {
  const found = (await gitOutput(git, ['rev-parse', '--git-path', 'objects'])).toString().replace(/\n$/, '');
  const objects = realpathSync(resolve(git.cwd, found));
  const name = `${prefix}${randomBytes(6).toString('hex')}`;
  const folder = join(objects, name);
  try {
    const format = git.oidLength === 64 ? 'sha256' : 'sha1';
    await gitOutput(git, ['init', '--quiet', '--bare', '--template=', `--object-format=${format}`, folder]);
    return await work({ git: inside(git, folder, objects), release: () => release(git, objects, name) });
  } finally {
    await removeTree(folder);
  }
}

function inside(git: ProjectGit, folder: string, objects: string): ProjectGit {
  const args = git.args.map((arg) => (arg.startsWith('--git-dir=') ? `--git-dir=${folder}` : arg));
  return { ...git, args, env: { ...git.env, GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(fromText(objects)) } };
}

function release(git: ProjectGit, objects: string, name: string): () => void {
  const moved: BytePath[] = [];
  const takeBack = () => {
    within(Anchor.reach(objects), (folder) => {
      for (const path of moved.toReversed()) takeAway(folder, path);
    });
  };
  try {
    within(Anchor.reach(objects), (to) =>
      within(to.enter(name), (made) => within(made.enter('objects'), (from) => moveAll(git, from, to, moved))),
    );
  } catch (error) {
    takeBack();
    throw error;
  }
  return takeBack;
}

/** Removes a file, or a folder unless another process has put something into it. */
function takeAway(objects: Anchor, path: BytePath): void {
  const names = path.split('/');
  const last = names.pop()!;
  if (names.length > 0) {
    within(objects.enter(names[0]!), (folder) => rmSync(folder.at(toBytes(last)), { force: true }));
    return;
  }
  try {
    rmdirSync(objects.at(last));
  } catch (error) {
    if (!isErrno(error, 'ENOTEMPTY')) throw error;
  }
}

function moveAll(git: ProjectGit, from: Anchor, to: Anchor, moved: BytePath[]): void {
  for (const folder of from.list().filter((name) => /^([0-9a-f]{2}|pack)$/.test(name))) {
    if (makeFolder(git, to, folder)) moved.push(folder);
    within(from.enter(folder), (source) => within(to.enter(folder), (target) => moveIn(source, target, folder, moved)));
  }
}

/** An index comes last, because git uses the pack from then on. */
function moveIn(from: Anchor, to: Anchor, folder: BytePath, moved: BytePath[]): void {
  const names = from.list().sort((one, other) => Number(one.endsWith('.idx')) - Number(other.endsWith('.idx')));
  for (const name of names.filter((one) => to.look(one) === null)) {
    renameSync(from.at(toBytes(name)), to.at(toBytes(name)));
    moved.push(`${folder}/${name}`);
  }
}

/** False: the object exists already. */
function makeFolder({ uid, gid }: ProjectGit, to: Anchor, name: BytePath): boolean {
  try {
    mkdirSync(to.at(name), 0o755);
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
    return false;
  }
  if (uid !== undefined)
    withNewEntryOpen({ folder: to, name }, 'folder', (fd) => setOwner(fd, { uid, gid: gid ?? uid }));
  return true;
}
