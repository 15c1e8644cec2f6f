/**
 * Commits changes of sandboxes to a branch. The branch's version of the changed paths is written to a private folder, which
 * takes the place of the project, so that everything is decided as in any apply; the result is committed, and the owner's
 * checkout is never touched. What the project's repository ignores stays out, and what is inside `.git` is left.
 */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type BytePath, toBytes } from '../../model/byte-path.ts';
import type { ApplyStep } from './apply/apply.ts';
import { withGateContext } from './apply/gate/gate-context.ts';
import { planApply } from './apply/plan/plan.ts';
import { digested, requireDigest } from './apply/plan/plan-digest.ts';
import { entryOf } from './apply/stamp.ts';
import { commitToBranch, openBranch } from './git/branch/branch.ts';
import type { ProjectBranch } from './git/branch/branch-tree.ts';
import { type BranchEntry, branchEntries, copyBlob } from './git/branch/branch-tree.ts';
import type { BranchChange } from './git/branch/write-blobs.ts';
import { isInsideGit } from './git/review/git-store.ts';
import { type Ignored, mergeIgnored, split } from './ignored.ts';
import type { Change, PlannedPath } from './model/change.ts';
import { withChosen } from './pick.ts';
import { leftOutOf, listSources, type TakeOver } from './take-over.ts';

export interface TakeToBranch extends Omit<TakeOver, 'journal' | 'leftOut'> {
  /** Whether paths that git ignores are committed, too. */
  readonly ignored: boolean;
  readonly branch: string;
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string };
  /** An empty, private folder. */
  readonly scratch: string;
  readonly dryRun: boolean;
}

export interface TakenToBranch {
  readonly paths: readonly PlannedPath[];
  /** Null: the contents were not read, so there is no digest. */
  readonly digest: string | null;
  readonly blocked: boolean;
  readonly hiddenInGit: number;
  readonly ignored: Ignored;
  /** Null: nothing was committed. */
  readonly commit: string | null;
}

/** Larger files of the branch are not read into memory. */
const maxFileBytes = 64 * 1024 * 1024;

export async function takeToBranch(order: TakeToBranch): Promise<TakenToBranch> {
  const { sources, project, options, scratch, message, author } = order;
  const branch = await openBranch(project, order.branch);
  const found = listSources({ sources, journal: null });
  const leftOut = await leftOutOf(order, found);
  const listed = sources.map(({ sandbox }, index) => {
    const { changes, hiddenInGit } = found[index]!;
    return { sandbox, hiddenInGit, ...split(withChosen(changes, order.chosen), leftOut[index] ?? new Set()) };
  });
  const hiddenInGit = listed.reduce((sum, one) => sum + one.hiddenInGit, 0);
  const ignored = mergeIgnored(listed.map((one) => one.ignored));
  const carried = listed.map(({ sandbox, changes }) => ({ sandbox, changes: changes.filter(isCommittable) }));
  const tree = join(scratch, 'tree');
  mkdirSync(tree);
  const changes = carried.flatMap((source) => source.changes);
  await checkOut(branch, changes, tree);
  const made = withGateContext(project, changes, (gateContext) =>
    planApply(carried, tree, { ...options, gateContext, cannotHold: isInsideGit }),
  );
  const isExact = order.dryRun || order.expect !== undefined;
  const { plan, digest } = isExact ? digested(made) : { plan: made, digest: null };
  if (digest !== null) requireDigest(order.expect, digest);
  const result = { paths: plan.paths, digest, blocked: plan.blocked, hiddenInGit, ignored };
  if (plan.blocked || plan.steps.length === 0 || order.dryRun) return { ...result, commit: null };
  const commit = await commitToBranch({ branch, message, author, changes: committed(plan.steps, tree) });
  return { ...result, commit };
}

/** Git stores files and links only. */
function isCommittable({ before, after }: Change): boolean {
  return [before, after].some((entry) => entry?.type === 'file' || entry?.type === 'link');
}

async function checkOut(branch: ProjectBranch, changes: readonly Change[], tree: string): Promise<void> {
  const before = new Map(changes.map((change) => [change.path, change.before?.mode]));
  for await (const [path, found] of branchEntries(branch, [...before.keys()], maxFileBytes))
    await putEntry(branch, below(tree, path), found, before.get(path));
}

/** Git stores one bit of a mode; if that is equal, the mode counts as equal. */
async function putEntry(
  { git }: ProjectBranch,
  at: Buffer,
  { entry, content, oid }: BranchEntry,
  likely: number | undefined,
): Promise<void> {
  const isSame = likely !== undefined && (likely & 0o100) === (entry.mode & 0o100);
  const folder = entry.type === 'folder' ? at : Buffer.from(dirname(at.toString('latin1')), 'latin1');
  mkdirSync(folder, { recursive: true });
  if (entry.type === 'link') symlinkSync(toBytes(entry.target!), at);
  if (entry.type !== 'file') return;
  if (content === null) await copyBlob(git, oid, at);
  else writeFileSync(at, content);
  chmodSync(at, isSame ? likely : entry.mode);
}

/** The steps as changes of the branch; git has no folders. */
function committed(steps: readonly ApplyStep[], tree: string): BranchChange[] {
  return steps.flatMap((step): BranchChange[] => {
    const { path } = step;
    if (step.do === 'remove') return [{ path, entry: null, content: null }];
    if (step.do === 'link') return [{ path, entry: { ...entryOfLink, target: step.target }, content: null }];
    if (step.do === 'file') {
      const { mode, sizeBytes, source, sha256 } = step.make;
      return [{ path, entry: { type: 'file', mode, sizeBytes, target: null }, content: source, sha256 }];
    }
    if (step.do !== 'chmod' || step.old.type !== 'file') return [];
    const content = { from: 'content', content: { at: 'tree', root: tree }, path } as const;
    return [{ path, entry: { ...entryOf(step.old), mode: step.mode }, content }];
  });
}

const entryOfLink = { type: 'link', mode: 0, sizeBytes: 0 } as const;

function below(tree: string, path: BytePath): Buffer {
  return Buffer.concat([Buffer.from(`${tree}/`), toBytes(path)]);
}
