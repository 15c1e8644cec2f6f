/**
 * A lane: a git worktree for one story at a time, beside the workspace. The workspace itself is not used, because the owner
 * may edit the project below it. Ignored files stay from story to story, so that packages are installed once per lane; those
 * of the workspace are copied at the start.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crashPoint } from '../../../../lib/flow/crash-point.ts';
import { run } from '../../../../lib/process/run.ts';
import { AdapterError } from '../../../agent/inside/adapter-error.ts';
import { taskFolders } from '../../model/task.ts';
import type { AgentGit } from './agent-git.ts';
import type { Repository } from './repository.ts';

export interface Lane {
  readonly folder: string;
  readonly repository: Repository;
}

/** Resets the lane to this commit, whatever was there before. */
export async function resetLane(git: AgentGit, lane: Lane, commit: string): Promise<void> {
  if ((await repair(git, lane, commit)) !== 'whole') {
    await makeWorktree(git, lane, commit);
    return;
  }
  await git.ok(lane.folder, ['reset', '--quiet', '--hard', commit]);
  await git.ok(lane.folder, ['clean', '--quiet', '-ffd']);
}

/** One commit of all differences to the base, including the agent's own commits. */
export async function commitLane(git: AgentGit, lane: Lane, base: string, message: string): Promise<string> {
  if ((await repair(git, lane, base)) === null)
    throw new AdapterError('GIT_CHECKOUT_FAILED', `${lane.folder} is not a checkout any more`);
  await git.ok(lane.folder, ['reset', '--quiet', base]);
  await git.ok(lane.folder, ['add', '--all']);
  // Only the daemon changes task files, so they are never part of a story.
  await git.ok(lane.folder, ['reset', '--quiet', base, '--', ...taskFolders]);
  const tree = await git.ok(lane.folder, ['write-tree']);
  return git.ok(lane.folder, ['commit-tree', tree, '-p', base, '-F', '-'], message);
}

/** Moves a commit on top of another one; null: they conflict. */
export async function moveCommit(git: AgentGit, lane: Lane, commit: string, onto: string): Promise<string | null> {
  await resetLane(git, lane, onto);
  const pick = ['cherry-pick', '--allow-empty', '--keep-redundant-commits', commit];
  const { exitCode } = await git.run(lane.folder, pick);
  if (exitCode === 0) return git.ok(lane.folder, ['rev-parse', 'HEAD']);
  await git.run(lane.folder, ['cherry-pick', '--abort']);
  return null;
}

/** Keeps the changes of a failed story under a ref; never fails. */
export async function keepUnfinished(git: AgentGit, lane: Lane, base: string, storyId: string): Promise<void> {
  try {
    const commit = await commitLane(git, lane, base, `${storyId}, unfinished\n`);
    const { exitCode } = await git.run(lane.folder, ['diff', '--quiet', base, commit]);
    if (exitCode === 1) await git.ok(lane.folder, ['update-ref', `refs/carrel/unfinished/${storyId}`, commit]);
  } catch {
    // The disk may be full, or the checkout damaged, ignoring.
  }
}

export async function removeLanes(git: AgentGit, repository: Repository, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await git.run(repository.folder, ['worktree', 'prune']);
}

/**
 * Repairs what an agent or a killed git left: removes locks and detaches HEAD, so that a reset moves no branch. Null: it is
 * not a checkout of the repository.
 */
async function repair(git: AgentGit, { folder, repository }: Lane, commit: string): Promise<'whole' | 'begun' | null> {
  const ask = ['--git-common-dir', ...['locked', 'index.lock', 'HEAD.lock'].flatMap((name) => ['--git-path', name])];
  const { exitCode, stdout } = await git
    .run(folder, ['rev-parse', '--path-format=absolute', '--show-toplevel', ...ask, '--symbolic-full-name', 'HEAD'])
    .catch(() => ({ exitCode: 1, stdout: '' }));
  const [top, common, locked, ...rest] = stdout.trimEnd().split('\n');
  if (exitCode !== 0 || top !== folder || common !== repository.gitFolder) return null;
  const head = rest.at(-1);
  for (const lock of rest.slice(0, -1)) await rm(lock, { force: true });
  if (head !== 'HEAD') await git.ok(folder, ['update-ref', '--no-deref', 'HEAD', commit]);
  return existsSync(locked!) ? 'begun' : 'whole';
}

/** The worktree is locked until it is complete. The second --force replaces a locked worktree that a crash left. */
async function makeWorktree(git: AgentGit, { folder, repository }: Lane, commit: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await git.ok(repository.folder, ['worktree', 'prune']);
  const forced = ['--force', '--force', '--lock', '--detach'];
  await git.ok(repository.folder, ['worktree', 'add', '--quiet', ...forced, folder, commit]);
  crashPoint('lane:added');
  await copyPackages(git, repository.folder, folder);
  await git.ok(repository.folder, ['worktree', 'unlock', folder]);
}

/** Folders of package managers. */
const packageFolders = ['node_modules', '.venv', 'venv', 'vendor'];

/** Each lane gets its own copy, so that packages that an agent installs in one lane are not in another. */
async function copyPackages(git: AgentGit, from: string, to: string): Promise<void> {
  const { stdout } = await git.run(from, ['check-ignore', '--', ...packageFolders]);
  const there = stdout.split('\n').filter((name) => packageFolders.includes(name) && existsSync(join(from, name)));
  for (const name of there) await run(['cp', '-a', '--reflink=auto', '--', join(from, name), join(to, name)], copyMs);
}

const copyMs = 600_000;
