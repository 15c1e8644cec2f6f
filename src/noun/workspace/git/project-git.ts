/**
 * Git in the project's repository. It belongs to the owner of the project, so git runs with the owner's account, and everything
 * that could run a program is off, whatever its configuration: hooks, monitors, filters, pagers and transports.
 */
import { chmodSync, chownSync, fstatSync, lstatSync, mkdtempSync, rmSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { Anchor } from '../../../lib/file/anchor.ts';
import { removeTree } from '../../../lib/file/file.ts';
import { ownersScratch } from '../../../lib/file/scratch.ts';
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
  const git = gitIn(project);
  return git && opened(git);
}

/** Like `openProjectGit`, without checking that git can read the repository. */
export function gitIn(project: string): Git | null {
  const folder = join(project, '.git');
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return null;
  return gitAt(project, folder, statSync(project));
}

/** Like `openProjectGit`, by an open folder, so that a path that changes meanwhile does not matter. */
export async function withProjectGit<T>(project: string, work: (git: ProjectGit | null) => Promise<T>): Promise<T> {
  const folder = Anchor.reach(project);
  try {
    const isThere = folder.look('.git') !== null;
    return await work(isThere ? await opened(gitAt(folder.path, '.git', fstatSync(folder.fd))) : null);
  } finally {
    folder.close();
  }
}

function gitAt(cwd: string, gitFolder: string, owner: Stats): Git {
  const args = ['--no-pager', `--git-dir=${gitFolder}`, ...settings.flatMap((setting) => ['-c', setting])];
  return { cwd, args, env: {}, ...asOwner(owner) };
}

async function opened(git: Git): Promise<ProjectGit | null> {
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

/**
 * Makes a temporary folder to which git writes with the account of the project's owner. The owner can write there too,
 * so the daemon itself writes nothing there.
 */
export function withOwnerFolder<T>({ uid, gid }: Git, work: (folder: string) => Promise<T>): Promise<T> {
  return withNew(ownersScratch(), (folder) => {
    if (uid !== undefined) chownSync(folder, uid, gid ?? uid);
    return work(folder);
  });
}

/**
 * Makes a temporary folder that the daemon writes and git only reads, so that the owner of the project cannot put a
 * link where the daemon is going to write a file.
 */
export function withReadFolder<T>(git: Git, work: (folder: string) => Promise<T>): Promise<T> {
  return withNew(ownersScratch(), (folder) => {
    letRead(git, folder);
    return work(folder);
  });
}

/** Like `withReadFolder`, for synchronous work. */
export function inReadFolder<T>(git: Git, work: (folder: string) => T): T {
  const folder = mkdtempSync(ownersScratch());
  try {
    letRead(git, folder);
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function letRead({ uid, gid }: Git, folder: string): void {
  if (uid === undefined) return;
  chownSync(folder, 0, gid ?? uid);
  chmodSync(folder, 0o750);
}

async function withNew<T>(prefix: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(prefix);
  try {
    return await work(folder);
  } finally {
    await removeTree(folder);
  }
}
