/**
 * A checkout that one story at a time is worked on in. The first lane is the workspace itself where that had no changes of
 * its own; the others, or all, are git worktrees beside it. What git ignores stays from story to story, so that packages
 * are installed once a lane.
 */
import { rm } from 'node:fs/promises';
import { taskFolders } from '../model/task.ts';
import { Setback } from './agent.ts';
import type { Git } from './git.ts';
import type { Repository } from './repository.ts';

export interface Lane {
  readonly folder: string;
  readonly repository: Repository;
}

/** True when nothing of it would be lost: what is checked out is what was committed. */
export async function isUnchanged(git: Git, folder: string): Promise<boolean> {
  const besideTasks = [':/', ...taskFolders.map((one) => `:(top,exclude)${one}`)];
  return (await git.ok(folder, ['status', '--porcelain', '--', ...besideTasks])) === '';
}

/** The lane as of this commit, whatever was there before. */
export async function resetLane(git: Git, lane: Lane, commit: string): Promise<void> {
  if (!(await takeOver(git, lane, commit))) {
    await makeWorktree(git, lane, commit);
    return;
  }
  await git.ok(lane.folder, ['reset', '--quiet', '--hard', commit]);
  await clean(git, lane.folder);
}

/** One commit of all that differs from the base now, however the agent got there. */
export async function commitLane(git: Git, lane: Lane, base: string, message: string): Promise<string> {
  if (!(await takeOver(git, lane, base)))
    throw new Setback('GIT_CHECKOUT_FAILED', `${lane.folder} is no checkout any more`);
  await git.ok(lane.folder, ['reset', '--quiet', base]);
  await git.ok(lane.folder, ['add', '--all']);
  // Task files are the daemon's to change, so they are never part of a story.
  await git.ok(lane.folder, ['reset', '--quiet', base, '--', ...taskFolders]);
  const tree = await git.ok(lane.folder, ['write-tree']);
  return git.ok(lane.folder, ['commit-tree', tree, '-p', base, '-F', '-'], message);
}

/** The commit on top of another one; null when they do not fit together. */
export async function moveCommit(git: Git, lane: Lane, commit: string, onto: string): Promise<string | null> {
  await resetLane(git, lane, onto);
  const pick = ['cherry-pick', '--allow-empty', '--keep-redundant-commits', commit];
  const { exitCode } = await git.run(lane.folder, pick);
  if (exitCode === 0) return git.ok(lane.folder, ['rev-parse', 'HEAD']);
  await git.run(lane.folder, ['cherry-pick', '--abort']);
  return null;
}

/** What a story that failed had changed, for whoever wants to look; never a reason to fail itself. */
export async function keepUnfinished(git: Git, lane: Lane, base: string, storyId: string): Promise<void> {
  try {
    const commit = await commitLane(git, lane, base, `${storyId}, unfinished\n`);
    const { exitCode } = await git.run(lane.folder, ['diff', '--quiet', base, commit]);
    if (exitCode === 1) await git.ok(lane.folder, ['update-ref', `refs/carrel/unfinished/${storyId}`, commit]);
  } catch {
    // The disk may be full, or the checkout in ruins, ignoring.
  }
}

/** The workspace shows the branch at the end, on it. */
export async function showBranch(git: Git, folder: string, name: string): Promise<void> {
  await git.ok(folder, ['symbolic-ref', 'HEAD', `refs/heads/${name}`]);
  await git.ok(folder, ['reset', '--quiet', '--hard']);
  await clean(git, folder);
}

export async function removeLanes(git: Git, repository: Repository, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await git.run(repository.folder, ['worktree', 'prune']);
}

async function clean(git: Git, folder: string): Promise<void> {
  const kept = taskFolders.flatMap((one) => ['--exclude', `/${one}`]);
  await git.ok(folder, ['clean', '--quiet', '-ffd', ...kept]);
}

/**
 * Whatever an agent or a git that was killed left: no lock, and a detached head, so that moving it moves no branch. False
 * when it is no checkout of the repository.
 */
async function takeOver(git: Git, { folder, repository }: Lane, commit: string): Promise<boolean> {
  const ask = ['--git-common-dir', '--git-path', 'index.lock', '--git-path', 'HEAD.lock'];
  const { exitCode, stdout } = await git
    .run(folder, ['rev-parse', '--path-format=absolute', '--show-toplevel', ...ask, '--symbolic-full-name', 'HEAD'])
    .catch(() => ({ exitCode: 1, stdout: '' }));
  const [top, common, ...rest] = stdout.trimEnd().split('\n');
  if (exitCode !== 0 || top !== folder || common !== repository.gitFolder) return false;
  const head = rest.at(-1);
  for (const lock of rest.slice(0, -1)) await rm(lock, { force: true });
  if (head !== 'HEAD') await git.ok(folder, ['update-ref', '--no-deref', 'HEAD', commit]);
  return true;
}

async function makeWorktree(git: Git, { folder, repository }: Lane, commit: string): Promise<void> {
  if (folder === repository.folder) throw new Setback('GIT_CHECKOUT_FAILED', `${folder} is no repository any more`);
  await rm(folder, { recursive: true, force: true });
  await git.ok(repository.folder, ['worktree', 'prune']);
  await git.ok(repository.folder, ['worktree', 'add', '--quiet', '--force', '--detach', folder, commit]);
}
