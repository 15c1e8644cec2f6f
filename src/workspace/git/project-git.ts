/**
 * Git in the project's repository. It belongs to the owner of the project, so git runs with the owner's account, and everything
 * that could run a program is off, whatever its configuration: hooks, monitors, filters, pagers and transports.
 */
import { chownSync, fstatSync, lstatSync, mkdtempSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { Anchor } from '../../lib/anchor.ts';
import { removeTree } from '../../lib/file.ts';
import { ownersScratch } from '../scratch.ts';
import { type Git, runGit } from './git.ts';

export interface ProjectGit extends Git {
  /** The length of a hash in hexadecimal. */
  readonly oidLength: 40 | 64;
}

const settings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.pager=cat',
  'core.attributesFile=/dev/null',
  'core.splitIndex=false',
  'core.untrackedCache=false',
  'index.sparse=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'protocol.allow=never',
  'core.sshCommand=false',
  'core.alternateRefsCommand=true',
  'i18n.commitEncoding=UTF-8',
  'log.showSignature=false',
];

/** Null: the project has no repository. One of a folder above does not count. */
export async function openProjectGit(project: string): Promise<ProjectGit | null> {
  const folder = join(project, '.git');
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return null;
  return open(project, folder, statSync(project));
}

/** The same by an open folder, so that a path that changes meanwhile does not matter. */
export async function withProjectGit<T>(project: string, work: (git: ProjectGit | null) => Promise<T>): Promise<T> {
  const folder = Anchor.reach(project);
  try {
    const isThere = folder.look('.git') !== null;
    return await work(isThere ? await open(folder.path, '.git', fstatSync(folder.fd)) : null);
  } finally {
    folder.close();
  }
}

async function open(cwd: string, gitFolder: string, owner: Stats): Promise<ProjectGit | null> {
  const args = ['--no-pager', `--git-dir=${gitFolder}`, ...settings.flatMap((setting) => ['-c', setting])];
  const git: Git = { cwd, args, env: {}, ...asOwner(owner) };
  const { exitCode, stdout } = await runGit(git, ['rev-parse', '--show-object-format']);
  if (exitCode !== 0) return null;
  return { ...git, oidLength: stdout.toString().trim() === 'sha256' ? 64 : 40 };
}

/** Null: there is no such ref, or it is not a commit. */
export async function commitOf(git: ProjectGit, ref: string): Promise<string | null> {
  const { exitCode, stdout } = await runGit(git, ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`]);
  return exitCode === 0 ? stdout.toString().trim() : null;
}

/** Only root can change its account. */
function asOwner({ uid, gid }: Stats): { uid?: number; gid?: number } {
  return process.getuid?.() !== 0 || uid === 0 ? {} : { uid, gid };
}

/** A temporary folder for git that the owner of the project can reach and write. */
export function withOwnerFolder<T>({ uid, gid }: Git, work: (folder: string) => Promise<T>): Promise<T> {
  return withNew(ownersScratch(), (folder) => {
    if (uid !== undefined) chownSync(folder, uid, gid ?? uid);
    return work(folder);
  });
}

async function withNew<T>(prefix: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(prefix);
  try {
    return await work(folder);
  } finally {
    await removeTree(folder);
  }
}
