/**
 * Apply and undo for the working copies of sandboxes: besides changing files they record what each agent's further changes are
 * based on.
 */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { type BytePath, toText } from '../model/byte-path.ts';
import type { Change, Outcome, PlannedPath } from '../model/change.ts';
import { Fault } from '../model/fault.ts';
import { pathFilter, pathspecText } from '../model/pathspec.ts';
import type { ApplyOptions, ApplySource, FileStep, Plan } from './apply/apply.ts';
import { hasMoved } from './apply/changed.ts';
import { commitApply } from './apply/commit-steps.ts';
import { withGateContext } from './apply/gate-context.ts';
import { readJournal } from './apply/journal.ts';
import { planApply } from './apply/plan-apply.ts';
import { digested, requireDigest } from './apply/plan-digest.ts';
import { keepBases, settleBases, voidApply } from './change/bases.ts';
import { listChanges } from './change/changes.ts';
import { type Ignored, ignoredPaths, type Split, split, together } from './ignored.ts';
import { type Chosen, withChosen } from './pick.ts';
import type { WorkspacePlace } from './workspace.ts';

export interface Source {
  readonly sandbox: string;
  readonly place: WorkspacePlace;
}

export interface TakeOver {
  /** Paused by the caller. */
  readonly sources: readonly Source[];
  readonly project: string;
  readonly options: ApplyOptions;
  /** Paths that are left out because git ignores them, for each source; absent: none. */
  readonly leftOut?: readonly ReadonlySet<BytePath>[];
  /** What is taken, if the reviewer chose parts of the changes of the only source. */
  readonly chosen?: Chosen | undefined;
  /** A private folder that does not exist yet, for the journal. Null: only plan. */
  readonly journal: string | null;
  /** The digest that the plan must have. */
  readonly expect?: string | undefined;
}

export interface TakenOver {
  readonly paths: readonly PlannedPath[];
  /** Null: the contents were not read for it. */
  readonly digest: string | null;
  readonly blocked: boolean;
  /** The project was changed. */
  readonly changed: boolean;
  readonly hiddenInGit: number;
  readonly ignored: Ignored;
}

/** Outcomes after which a change is settled. */
const decided: readonly Outcome[] = ['take', 'merge', 'same', 'theirs', 'ours', 'markers'];

/** How often the whole apply is planned again after the owner changed something between plan and exchange. */
const maxTries = 5;

/** The paths of each source that are left out; `ignored`: they are taken, too. */
export function leftOutOf({
  sources,
  project,
  ignored,
}: Pick<TakeOver, 'sources' | 'project'> & { readonly ignored: boolean }) {
  return ignored ? [] : Promise.all(sources.map(({ place }) => ignoredPaths(project, listChanges(place).changes)));
}

export function takeOver(order: TakeOver): TakenOver {
  for (let tries = 1; ; tries += 1) {
    try {
      return tryTakeOver(order);
    } catch (error) {
      if (tries === maxTries || !hasMoved(error)) throw error;
    }
  }
}

function tryTakeOver(order: TakeOver): TakenOver {
  const { sources, project, options, journal } = order;
  if (journal !== null) for (const { place } of sources) keepBases(place);
  const listed = sources.map((source, index) => {
    const { changes: all, hiddenInGit } = listChanges(source.place);
    const { changes, ignored } = seen(all, order.leftOut?.[index], options.paths);
    return { ...source, hiddenInGit, changes: withChosen(changes, order.chosen), ignored };
  });
  const hiddenInGit = listed.reduce((sum, one) => sum + one.hiddenInGit, 0);
  const all = listed.flatMap(({ changes }) => changes);
  const taken = withGateContext(project, all, (gateContext) =>
    take(listed, { ...order, options: { ...options, gateContext } }),
  );
  return { ...taken, hiddenInGit, ignored: together(listed.map(({ ignored }) => ignored)) };
}

/** A path that was named and is ignored is refused: leaving it out would look as if it was applied. */
function seen(
  all: readonly Change[],
  leftOut: ReadonlySet<BytePath> = new Set(),
  paths: readonly BytePath[] = [],
): Split {
  const filter = pathFilter(paths);
  const found = split(all, leftOut);
  const names = (changes: readonly Change[]) => changes.map(({ path }) => path);
  const idle = new Set(filter.idle(names(all)));
  const ignored = leftOut.size === 0 ? [] : filter.idle(names(found.changes)).filter((path) => !idle.has(path));
  if (ignored.length === 0) return found;
  throw new Fault('not_found', `git ignores what changed at ${ignored.map(toText).join(', ')}`, {
    hint: 'Add --ignored.',
  });
}

type Listed = Source & ApplySource;

function take(listed: readonly Listed[], order: TakeOver): Omit<TakenOver, 'hiddenInGit' | 'ignored'> {
  const { project, options, journal, expect } = order;
  const { plan, digest } = planned(listed, order);
  const changed = journal !== null && !plan.blocked && plan.steps.length > 0;
  const settled = listed.map(({ place, sandbox, changes }) => ({
    sandbox,
    place,
    changes: changesSettled(changes, sandbox, plan.paths),
  }));
  const meta = { settled: settled.map(pathsSettled) } satisfies Meta;
  // What was expected is not decided again.
  const again = expect === undefined ? (path: BytePath) => planAgain(listed, project, options, path) : null;
  if (changed) commitApply(plan, project, journal, meta, again);
  if (journal !== null && !plan.blocked) {
    for (const { place, changes } of settled) settleBases(place, changes, applyOf(journal));
  }
  return { paths: plan.paths, digest, blocked: plan.blocked, changed };
}

/** An apply that expects nothing reads each content once, to take it. */
function planned(
  listed: readonly ApplySource[],
  { project, options, journal, expect }: TakeOver,
): { readonly plan: Plan; readonly digest: string | null } {
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

function changesSettled(changes: readonly Change[], sandbox: string, paths: readonly PlannedPath[]): Change[] {
  const mine = paths.filter((path) => path.sandbox === sandbox && decided.includes(path.outcome));
  const settled = new Set(mine.map(({ path }) => path));
  return changes.filter(({ path }) => settled.has(path));
}

/** The `meta` of a journal: the settled paths, by sandbox. */
interface Meta {
  readonly settled: readonly { readonly sandbox: string; readonly paths: readonly BytePath[] }[];
}

function pathsSettled({ sandbox, changes }: { sandbox: string; changes: readonly Change[] }) {
  return { sandbox, paths: changes.map(({ path }) => path) };
}

/** The id of an apply is the name of its journal folder. */
function applyOf(journal: string): string {
  return basename(journal);
}

/** For an apply that a crash cut short after all of its exchanges: its paths are settled. */
export function settleAgain(journal: string, project: string, sources: readonly Source[]): void {
  const { settled } = readJournal(journal).meta as Meta;
  for (const { sandbox, place } of sources) {
    const paths = new Set(settled.filter((one) => one.sandbox === sandbox).flatMap((one) => one.paths));
    const changes = listChanges(place).changes.filter(({ path }) => paths.has(path));
    const plan = planApply([{ sandbox, changes }], project, { resolution: 'leave', allow: [] });
    const same = plan.paths.filter(({ outcome }) => outcome === 'same');
    settleBases(place, changesSettled(changes, sandbox, same), applyOf(journal));
  }
}

/** That apply was undone: in each of these, including snapshots and forks, its changes are listed again. */
export function reopen(apply: string, places: readonly WorkspacePlace[]): void {
  for (const place of places) if (existsSync(place.folder)) voidApply(place, apply);
}
