/**
 * Commits onto a branch of the project's repository. The owner's checkout and index stay as they are: the tree is made
 * in a private index, and the branch is updated only if it still has the commit that it had when it was opened.
 */
import { join } from 'node:path';
import { toBytes } from '../../../../model/byte-path.ts';
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import type { Entry } from '../../model/change.ts';
import { gitFault, gitMode, gitOutput, runGit } from '../git.ts';
import { commitOf, openProjectGit, type ProjectGit, withOwnerFolder } from '../project-git.ts';
import { type BranchTree, displacedBy, listTree, type ProjectBranch } from './branch-tree.ts';
import { withQuarantine } from './quarantine.ts';
import { type BranchChange, writeBlobs } from './write-blobs.ts';

export interface BranchCommit {
  readonly branch: ProjectBranch;
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly changes: readonly BranchChange[];
}

/** Refuses a name that git refuses, and a branch that is checked out anywhere. */
export async function openBranch(project: string, name: string): Promise<ProjectBranch> {
  const git = await openProjectGit(project);
  if (git === null)
    throw new Fault('unsupported', `${project} has no git repository of its own`, {
      hint: 'Begin one there with git init, or apply without a branch.',
    });
  const checked = await runGit(git, ['check-ref-format', '--branch', name]);
  if (checked.exitCode !== 0 || checked.stdout.toString() !== `${name}\n`)
    throw new Fault('invalid', `${printable(name)} is not a name for a branch`, {
      hint: 'Use a name that git accepts, such as fix/login.',
    });
  await refuseCheckedOut(git, name);
  const tip = await commitOf(git, `refs/heads/${name}`);
  return { git, name, tip, start: tip ?? (await commitOf(git, 'HEAD')) };
}

async function refuseCheckedOut(git: ProjectGit, name: string): Promise<void> {
  const listed = await gitOutput(git, ['worktree', 'list', '--porcelain', '-z']);
  if (
    !listed
      .toString('latin1')
      .split('\0')
      .includes(`branch refs/heads/${toLatin1(name)}`)
  )
    return;
  throw new Fault('conflict', `the branch ${name} is checked out`, {
    hint: 'Name another branch, or apply without one.',
  });
}

function toLatin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** Returns the new commit of the branch, or its present one if there is nothing to change. */
export async function commitToBranch({ branch, message, author, changes }: BranchCommit): Promise<string> {
  const text = message.trim();
  if (text === '' || text.includes('\0')) throw new Fault('invalid', 'a commit needs a message, which is text');
  refuseDisplacing(await listTree(branch.git, branch.start), changes);
  return withQuarantine(branch.git, async ({ git, release }) => {
    const own = { ...branch, git };
    const tree = await withOwnerFolder(git, (folder) => writeTree(own, changes, join(folder, 'index')));
    if (branch.tip !== null && tree === (await treeOf(branch.git, branch.tip))) return branch.tip;
    const commit = await commitTree(own, tree, `${text}\n`, author);
    const takeBack = release();
    await move(branch, commit).catch((error: unknown) => {
      takeBack();
      throw error;
    });
    return commit;
  });
}

function refuseDisplacing(tree: BranchTree, changes: readonly BranchChange[]): void {
  const displaced = displacedBy(tree, changes);
  if (displaced === null) return;
  const names = printable(toBytes(displaced).toString('utf8'));
  throw new Fault('conflict', `the commit would remove ${names} from the branch, or change a submodule there`);
}

async function writeTree(
  { git, start }: ProjectBranch,
  changes: readonly BranchChange[],
  index: string,
): Promise<string> {
  const env = { GIT_INDEX_FILE: index };
  const modes = changes.map(({ entry }) => entry && modeOf(entry));
  const oids = await writeBlobs(git, changes);
  const lines = changes.map(
    ({ path }, at) => `${modes[at] ?? '0'} ${oids[at] || '0'.repeat(git.oidLength)}\t${path}\0`,
  );
  // Removals first: a file may replace a folder, and a folder a file.
  const [goes, comes] = [lines.filter((_, at) => modes[at] === null), lines.filter((_, at) => modes[at] !== null)];
  await gitOutput(git, ['read-tree', start ?? '--empty'], { env });
  const args = ['update-index', '-z', '--index-info'];
  const { exitCode, stderr } = await runGit(git, args, { env, input: toBytes([...goes, ...comes].join('')) });
  // Git leaves out a path that it refuses with a message and without an error.
  if (exitCode !== 0 || stderr !== '') throw gitFault(args, stderr, 'invalid');
  return (await gitOutput(git, ['write-tree'], { env })).toString().trim();
}

function modeOf(entry: Entry): string {
  if (entry.type === 'link' || entry.type === 'file') return gitMode(entry);
  throw new Fault('invalid', `git cannot hold a ${entry.type}`);
}

async function treeOf(git: ProjectGit, commit: string): Promise<string> {
  return (await gitOutput(git, ['rev-parse', '--verify', `${commit}^{tree}`])).toString().trim();
}

async function commitTree(
  branch: ProjectBranch,
  tree: string,
  input: string,
  author: BranchCommit['author'],
): Promise<string> {
  const env = {
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_COMMITTER_NAME: author.name,
    GIT_COMMITTER_EMAIL: author.email,
  };
  const parents = branch.start === null ? [] : ['-p', branch.start];
  const args = ['commit-tree', tree, ...parents, '-F', '-'];
  return (await gitOutput(branch.git, args, { env, input, code: 'invalid' })).toString().trim();
}

/** Updates the branch only if it still has the old commit; an empty old value means that the branch did not exist. */
async function move({ git, name, tip }: ProjectBranch, commit: string): Promise<void> {
  await refuseCheckedOut(git, name);
  const args = ['update-ref', '--create-reflog', '-m', 'carrel apply', `refs/heads/${name}`, commit, tip ?? ''];
  const { exitCode, stderr } = await runGit(git, args);
  if (exitCode !== 0) throw gitFault(args, stderr, 'conflict');
}
