/**
 * Git on the project's own repository. It belongs to the owner of the project, so git runs as the owner, with nothing in
 * it that could run anything else: hooks, monitors, filters, pagers and transports are off, whatever its configuration.
 */
import { chownSync, fstatSync, lstatSync, mkdtempSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { Anchor } from '../../lib/anchor.ts';
import { removeTree } from '../../lib/file.ts';
import { ownersScratch } from '../scratch.ts';
import { type Git, runGit } from './git.ts';

export interface ProjectGit extends Git {
  /** Of a hash, in hexadecimal. */
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

/** Null when the project has no repository of its own; one of a folder above is not its own. */
export async function openProjectGit(project: string): Promise<ProjectGit | null> {
  const folder = join(project, '.git');
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return null;
  return open(project, folder, statSync(project));
}

/** The same on the very folder that is the project now, whatever its path leads to meanwhile. */
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

/** Null: there is no such ref, or it leads to no commit. */
export async function commitOf(git: ProjectGit, ref: string): Promise<string | null> {
  const { exitCode, stdout } = await runGit(git, ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`]);
  return exitCode === 0 ? stdout.toString().trim() : null;
}

/** Only root can be somebody else. */
function asOwner({ uid, gid }: Stats): { uid?: number; gid?: number } {
  return process.getuid?.() !== 0 || uid === 0 ? {} : { uid, gid };
}

/** A folder for git to work in, which the owner of the project can reach, and may do anything in. */
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
