/**
 * Changes of sandboxes as a commit on a branch. What the branch has at the changed paths is put into a folder of ours and
 * taken for the project, so that everything is decided as in any apply; the result is committed, and the owner's
 * checkout is never touched. What the project's repository ignores stays out, and what is inside `.git` is left.
 */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type BytePath, fromBytes, toBytes } from '../model/byte-path.ts';
import type { Change, Outcome, PlannedPath } from '../model/change.ts';
import { commitApply } from './apply/commit.ts';
import { withGround } from './apply/gate-ground.ts';
import { planApply } from './apply/plan-apply.ts';
import { entryOf, stampOf } from './apply/stamp.ts';
import { listChanges } from './change/changes.ts';
import { type Branch, type BranchChange, commitToBranch, openBranch } from './git/branch.ts';
import { type BranchEntry, branchEntries } from './git/branch-tree.ts';
import { gitFault, runGit } from './git/git.ts';
import { isInsideGit } from './git/git-store.ts';
import type { TakeOver } from './take-over.ts';
import { Folders, lookAt } from './tree/folders.ts';

export interface TakeToBranch extends Omit<TakeOver, 'journal'> {
  readonly branch: string;
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string };
  /** Empty and ours alone. */
  readonly scratch: string;
  readonly dryRun: boolean;
}

export interface TakenToBranch {
  readonly paths: readonly PlannedPath[];
  readonly blocked: boolean;
  readonly hiddenInGit: number;
  /** Null when nothing was committed. */
  readonly commit: string | null;
}

/** Larger files of the branch are never merged, only replaced. */
const maxFileBytes = 64 * 1024 * 1024;
const taken: readonly Outcome[] = ['take', 'merge', 'theirs', 'markers'];

export async function takeToBranch(order: TakeToBranch): Promise<TakenToBranch> {
  const { sources, project, options, scratch, message, author } = order;
  const branch = await openBranch(project, order.branch);
  const listed = sources.map(({ sandbox, place }) => ({ sandbox, ...listChanges(place) }));
  const hiddenInGit = listed.reduce((sum, one) => sum + one.hiddenInGit, 0);
  const carried = await withoutIgnored(branch, listed);
  const tree = join(scratch, 'tree');
  mkdirSync(tree);
  const changes = carried.flatMap((source) => source.changes);
  await checkOut(branch, changes, tree);
  const plan = withGround(project, changes, (ground) =>
    planApply(carried, tree, { ...options, ground, cannotHold: isInsideGit }),
  );
  const paths = plan.paths.map((planned) => ({ ...planned, hardLink: null }));
  const said = { paths, blocked: plan.blocked, hiddenInGit };
  if (plan.blocked || plan.steps.length === 0 || order.dryRun) return { ...said, commit: null };
  commitApply(plan, tree, join(scratch, 'journal'), null);
  const carriedOut = paths.filter(({ outcome }) => taken.includes(outcome)).map(({ path }) => path);
  const commit = await commitToBranch({ branch, message, author, changes: committed(tree, carriedOut) });
  return { ...said, commit };
}

type Listed = { readonly sandbox: string; readonly changes: readonly Change[] };

async function withoutIgnored({ git }: Branch, listed: readonly Listed[]): Promise<Listed[]> {
  const files = listed.flatMap(({ changes }) => changes.filter(isCommittable));
  const input = toBytes([...new Set(files.map(({ path }) => path))].join('\0'));
  const args = ['check-ignore', '-z', '--stdin'];
  const workTree = { GIT_WORK_TREE: git.cwd };
  const { exitCode, stdout, stderr } = await runGit(git, args, { input, env: workTree });
  if (exitCode > 1) throw gitFault(args, stderr);
  const ignored = new Set(fromBytes(stdout).split('\0'));
  return listed.map(({ sandbox, changes }) => ({
    sandbox,
    changes: changes.filter((change) => isCommittable(change) && !ignored.has(change.path)),
  }));
}

/** Git knows files and links. */
function isCommittable({ before, after }: Change): boolean {
  return [before, after].some((entry) => entry?.type === 'file' || entry?.type === 'link');
}

async function checkOut(branch: Branch, changes: readonly Change[], tree: string): Promise<void> {
  const before = new Map(changes.map((change) => [change.path, change.before?.mode]));
  for await (const [path, found] of branchEntries(branch, [...before.keys()], maxFileBytes))
    putEntry(below(tree, path), found, before.get(path));
}

/** Git keeps one bit of a mode; where that is the same, so is the mode. */
function putEntry(at: Buffer, { entry, content }: BranchEntry, likely: number | undefined): void {
  const isSame = likely !== undefined && (likely & 0o100) === (entry.mode & 0o100);
  const folder = entry.type === 'folder' ? at : Buffer.from(dirname(at.toString('latin1')), 'latin1');
  mkdirSync(folder, { recursive: true });
  if (entry.type === 'link') symlinkSync(toBytes(entry.target!), at);
  if (entry.type !== 'file') return;
  writeFileSync(at, content ?? '');
  chmodSync(at, isSame ? likely : entry.mode);
}

/** Found by open folders: where an agent has put a link in the place of a folder, nothing is behind it. */
function committed(tree: string, paths: readonly BytePath[]): BranchChange[] {
  const folders = new Folders(tree);
  try {
    return [...new Set(paths)].flatMap((path) => committedAt(folders, tree, path));
  } finally {
    folders.close();
  }
}

function committedAt(folders: Folders, tree: string, path: BytePath): BranchChange[] {
  const spot = folders.spot(path);
  const stats = spot && lookAt(spot);
  if (!stats) return [{ path, entry: null, content: null }];
  const entry = entryOf(stampOf(stats, spot));
  if (entry.type === 'link') return [{ path, entry, content: null }];
  if (entry.type !== 'file') return [];
  return [{ path, entry, content: { from: 'content', content: { at: 'tree', root: tree }, path } }];
}

function below(tree: string, path: BytePath): Buffer {
  return Buffer.concat([Buffer.from(`${tree}/`), toBytes(path)]);
}
