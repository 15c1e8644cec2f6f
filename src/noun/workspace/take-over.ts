/**
 * Apply and undo for the working copies of sandboxes: besides changing files they record what each agent's further changes are
 * based on.
 */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { type BytePath, toText } from '../../model/byte-path.ts';
import { Fault } from '../../model/fault.ts';
import { pathFilter, pathspecText } from '../../model/pathspec.ts';
import type { ApplyOptions, ApplyPlan, ApplySource, FileStep } from './apply/apply.ts';
import { isStalePlan } from './apply/commit/changed.ts';
import { commitApply } from './apply/commit/commit.ts';
import { type GateFacts, withGateContext } from './apply/gate/gate-context.ts';
import { readJournal } from './apply/journal.ts';
import { planApply } from './apply/plan/plan.ts';
import { digested, requireDigest } from './apply/plan/plan-digest.ts';
import { adoptAgentVersions, keepAndList, voidApply } from './change/base/base.ts';
import type { Changes, Skipped } from './change/change.ts';
import { listChanges } from './change/changes.ts';
import { type Ignored, ignoredPaths, mergeIgnored, type Split, split, unskipped } from './ignored.ts';
import { IgnoredFolders } from './ignored-folders.ts';
import type { Change, PathOutcome, PlannedPath } from './model/change.ts';
import { type Chosen, withChosen } from './pick.ts';
import { reading } from './tree/reader.ts';
import type { WorkspacePlace } from './workspace.ts';

export interface ChangeSource {
  readonly sandbox: string;
  readonly place: WorkspacePlace;
}

export interface TakeOver {
  /** Paused by the caller. */
  readonly sources: readonly ChangeSource[];
  readonly project: string;
  readonly options: ApplyOptions;
  /** The changes of each source, if they were just listed; a second try lists them again. */
  readonly listed?: readonly Changes[];
  /** True: folders that git ignores are counted instead of listed, since none of them was asked for. */
  readonly skipping?: boolean;
  /** Paths that are left out because git ignores them, for each source; absent: none. */
  readonly leftOut?: readonly ReadonlySet<BytePath>[];
  /** What is taken, if the reviewer chose parts of the changes of the only source. */
  readonly chosen?: Chosen | undefined;
  /** The facts about the project that gates need, if they were just read; a second try reads them again. */
  readonly gateFacts?: GateFacts | null;
  /** A private folder that does not exist yet, for the journal. Null: only plan. */
  readonly journal: string | null;
  /** The digest that the plan must have. */
  readonly expect?: string | undefined;
}

export interface TakenOver {
  readonly paths: readonly PlannedPath[];
  /** Null: the contents were not read, so there is no digest. */
  readonly digest: string | null;
  readonly blocked: boolean;
  /** The project was changed. */
  readonly changed: boolean;
  readonly hiddenInGit: number;
  readonly ignored: Ignored;
}

/** Outcomes after which a change is not listed any more. */
const decided: readonly PathOutcome[] = ['take', 'merge', 'same', 'theirs', 'ours', 'markers'];

/** How often the whole apply is planned again after the owner changed something between plan and exchange. */
const maxTries = 5;

/** The changes of each source, as `takeOver` needs them. `skipping`: without the folders that git ignores. */
export function listSources({ sources, journal }: Pick<TakeOver, 'sources' | 'journal'>, skipping = false): Changes[] {
  return sources.map(({ place }) => {
    const folders = skipping ? () => new IgnoredFolders(place) : undefined;
    return journal === null ? listChanges(place, folders?.()) : keepAndList(place, folders);
  });
}

/** The paths of each source that are left out because git ignores them; `ignored`: none is left out. */
export function leftOutOf({ project, ignored }: Pick<TakeOver, 'project'> & AlsoIgnored, listed: readonly Changes[]) {
  return ignored ? [] : Promise.all(listed.map((one) => ignoredPaths(project, unskipped(one))));
}

interface AlsoIgnored {
  readonly ignored: boolean;
}

export function takeOver(order: TakeOver): TakenOver {
  for (let tries = 1; ; tries += 1) {
    try {
      if (tries === 1 && order.listed) return tryTakeOver(order, order.listed);
      return tryTakeOver({ ...order, gateFacts: null }, listSources(order, order.skipping));
    } catch (error) {
      if (tries === maxTries || !isStalePlan(error)) throw error;
    }
  }
}

function tryTakeOver(order: TakeOver, found: readonly Changes[]): TakenOver {
  const { sources, project, options } = order;
  const listed = sources.map((source, index) => {
    const { changes: all, hiddenInGit, logBytes, skipped } = found[index]!;
    const { changes, ignored } = seen(all, order.leftOut?.[index], options.paths, skipped);
    return { ...source, hiddenInGit, changes: withChosen(changes, order.chosen), ignored, logBytes };
  });
  const hiddenInGit = listed.reduce((sum, one) => sum + one.hiddenInGit, 0);
  const all = listed.flatMap(({ changes }) => changes);
  const taken = withGateContext(
    project,
    all,
    (gateContext) => take(listed, { ...order, options: { ...options, gateContext } }),
    order.gateFacts,
  );
  return { ...taken, hiddenInGit, ignored: mergeIgnored(listed.map(({ ignored }) => ignored)) };
}

/** A path that was named and is ignored is refused: leaving it out would look as if it was applied. */
function seen(
  all: readonly Change[],
  leftOut: ReadonlySet<BytePath> = new Set(),
  paths: readonly BytePath[] = [],
  skipped?: readonly Skipped[],
): Split {
  const filter = pathFilter(paths);
  const found = split(all, leftOut, skipped);
  const names = (changes: readonly Change[]) => changes.map(({ path }) => path);
  const idle = new Set(filter.idle(names(all)));
  const ignored = leftOut.size === 0 ? [] : filter.idle(names(found.changes)).filter((path) => !idle.has(path));
  if (ignored.length === 0) return found;
  throw new Fault('not_found', `git ignores what changed at ${ignored.map(toText).join(', ')}`, {
    hint: 'Add --ignored.',
  });
}

type Listed = ChangeSource & ApplySource & Pick<Changes, 'logBytes'>;

function take(listed: readonly Listed[], order: TakeOver): Omit<TakenOver, 'hiddenInGit' | 'ignored'> {
  const { project, options, journal, expect } = order;
  const { plan, digest } = planned(listed, order);
  const changed = journal !== null && !plan.blocked && plan.steps.length > 0;
  const adopted = listed.map(({ place, sandbox, changes, logBytes }) => ({
    sandbox,
    place,
    logBytes,
    changes: adoptedChanges(changes, sandbox, plan.paths),
  }));
  const meta = { settled: adopted.map(adoptedPaths) } satisfies Meta;
  // With an expected digest no path is decided again.
  const again = (path: BytePath) => planAgain(listed, project, options, path);
  const remake = expect === undefined ? again : undefined;
  reading((reader) => {
    if (changed) commitApply(plan, project, journal, meta, { remake, reader });
    if (journal === null || plan.blocked) return;
    for (const { place, changes, logBytes } of adopted)
      adoptAgentVersions(place, changes, applyOf(journal), { reader, logBytes });
  });
  return { paths: plan.paths, digest, blocked: plan.blocked, changed };
}

/** Without an expected digest an apply computes none, so that it reads each content only once. */
function planned(
  listed: readonly ApplySource[],
  { project, options, journal, expect }: TakeOver,
): { readonly plan: ApplyPlan; readonly digest: string | null } {
  const plan = planApply(listed, project, options);
  if (journal !== null && expect === undefined) return { plan, digest: null };
  const found = digested(plan);
  requireDigest(expect, found.digest);
  return found;
}

/**
 * A base that is the project itself is lost when the owner changes the file, so such a path cannot be decided again.
 */
function planAgain(
  listed: readonly ApplySource[],
  project: string,
  options: ApplyOptions,
  path: BytePath,
): FileStep | null {
  const own = listed.map(({ sandbox, changes }) => ({ sandbox, changes: changes.filter((one) => one.path === path) }));
  const isMovable = ({ beforeContent }: Change) => beforeContent?.at === 'tree' && beforeContent.root === project;
  if (own.some(({ changes }) => changes.some(isMovable))) return null;
  const plan = planApply(own, project, { ...options, paths: [pathspecText({ words: ['literal'], path })] });
  const [step, ...more] = plan.steps;
  const isOne = !plan.blocked && more.length === 0 && step?.do === 'file' && step.path === path;
  return isOne ? step : null;
}

function adoptedChanges(changes: readonly Change[], sandbox: string, paths: readonly PlannedPath[]): Change[] {
  const mine = paths.filter((path) => path.sandbox === sandbox && decided.includes(path.outcome));
  const adopted = new Set(mine.map(({ path }) => path));
  return changes.filter(({ path }) => adopted.has(path));
}

/** The `meta` of a journal: the adopted paths, by sandbox. */
interface Meta {
  readonly settled: readonly { readonly sandbox: string; readonly paths: readonly BytePath[] }[];
}

function adoptedPaths({ sandbox, changes }: { sandbox: string; changes: readonly Change[] }) {
  return { sandbox, paths: changes.map(({ path }) => path) };
}

/** The id of an apply is the name of its journal folder. */
function applyOf(journal: string): string {
  return basename(journal);
}

/** Adopts the agents' versions of an apply that a crash interrupted after all of its exchanges. */
export function adoptAfterCrash(journal: string, project: string, sources: readonly ChangeSource[]): void {
  const { settled } = readJournal(journal).meta as Meta;
  for (const { sandbox, place } of sources) {
    const paths = new Set(settled.filter((one) => one.sandbox === sandbox).flatMap((one) => one.paths));
    const changes = listChanges(place).changes.filter(({ path }) => paths.has(path));
    const plan = planApply([{ sandbox, changes }], project, { resolution: 'leave', allow: [] });
    const same = plan.paths.filter(({ outcome }) => outcome === 'same');
    adoptAgentVersions(place, adoptedChanges(changes, sandbox, same), applyOf(journal));
  }
}

/** Makes the changes of an undone apply be listed again, in each of these places, including snapshots and forks. */
export function restoreListedChanges(apply: string, places: readonly WorkspacePlace[]): void {
  for (const place of places) if (existsSync(place.folder)) voidApply(place, apply);
}
