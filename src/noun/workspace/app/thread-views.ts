/** Jobs whose results are shown to clients: the thread already turns the long lists in them into JSON. */

import { Anchor } from '../../../lib/file/anchor.ts';
import { beginSync } from '../../../lib/sys/sys.ts';
import { type BytePath, toText } from '../../../model/byte-path.ts';
import { parsePathspec, pathFilter } from '../../../model/pathspec.ts';
import { blockedBy, plannedView, shownPath } from '../api/apply-view.ts';
import type { ApplyView, ChangesView, ChangeView, OfferedView } from '../api.ts';
import { beginGateFacts } from '../apply/gate/gate-context.ts';
import { undoApply } from '../apply/undo.ts';
import { listChanges } from '../change/changes.ts';
import { discardChanges } from '../change/discard.ts';
import type { Ignored } from '../ignored.ts';
import { choose, type OfferedFile, offer, type Pick as PickedFile } from '../pick.ts';
import { type ReviewedWorkspace, type ReviewInput, review } from '../review-job.ts';
import { leftOutOf, listSources, type TakenOver, type TakeOver, takeOver } from '../take-over.ts';
import { type TakeToBranch, takeToBranch } from '../take-to-branch.ts';
import { unlessGone } from '../tree/tree.ts';
import type { WorkspacePlace } from '../workspace.ts';

type IgnoredView = ChangesView['ignored'];

export async function reviewShown(
  input: ReviewInput,
): Promise<{ changes: Uint8Array; hiddenInGit: number; ignored: IgnoredView }> {
  const { changes, hiddenInGit, ignored } = await review(input);
  return { changes: json(changes.map(changeView)), hiddenInGit, ignored: ignoredView(ignored) };
}

function ignoredView({ files, more, places }: Ignored): IgnoredView {
  return { files, more, places: places.map(toText) };
}

/**
 * Copies field by field: for thousands of changes, copying the rest of an object takes longer than git needs to
 * compare.
 */
function changeView(one: ReviewedWorkspace['changes'][number]): ChangeView {
  return {
    path: one.path,
    pathBase64: one.pathBase64,
    status: one.status,
    from: one.from,
    oldMode: octal(one.oldMode),
    newMode: octal(one.newMode),
    oldType: one.oldType,
    newType: one.newType,
    oldSize: one.oldSize,
    newSize: one.newSize,
    insertions: one.insertions,
    deletions: one.deletions,
    oldSha256: one.oldSha256,
    newSha256: one.newSha256,
    baseKnown: one.baseKnown,
    gates: [...one.gates],
    note: one.note,
  };
}

function octal(mode: string | null): number | null {
  return mode === null ? null : Number.parseInt(mode, 8);
}

export interface TakenShown {
  readonly paths: Uint8Array;
  /** A digest of the plan; null after an apply that expected none. */
  readonly plan: string | null;
  readonly blocked: ApplyView['blocked'];
  readonly hiddenInGit: number;
  readonly ignored: IgnoredView;
}

/** `picks` undefined: all changes are taken. */
export interface PickOrder {
  readonly picks?: readonly PickedFile[] | undefined;
  /** An empty, private folder, where the chosen versions are written. */
  readonly pickScratch?: string | undefined;
}

export async function takeOverShown(
  order: TakeOver & PickOrder & { readonly ignored: boolean },
): Promise<TakenShown & Pick<TakenOver, 'changed'>> {
  const picked = await withPicks(order);
  const skipping = !order.ignored && (order.options.paths ?? []).length === 0 && order.picks === undefined;
  if (order.journal !== null) flushEarly(order.project);
  const readFacts = beginGateFacts(order.project);
  const listed = listSources(order, skipping);
  const [leftOut, gateFacts] = await Promise.all([leftOutOf(order, listed), readFacts()]);
  const taken = takeOver({ ...picked, listed, skipping, leftOut, gateFacts });
  return { ...shown(taken), changed: taken.changed };
}

/**
 * Begins a sync while changes are listed and planned, because the later sync of staged files takes the whole
 * filesystem.
 */
function flushEarly(project: string): void {
  const folder = unlessGone(() => Anchor.reach(project));
  if (folder) beginSync(folder.fd, () => folder.close());
}

export async function takeToBranchShown(
  order: TakeToBranch & PickOrder,
): Promise<TakenShown & { commit: string | null }> {
  const taken = await takeToBranch(await withPicks(order));
  return { ...shown(taken), commit: taken.commit };
}

/** Runs while the sources are paused, so the versions that are chosen here are the ones that are taken. */
async function withPicks<T extends Omit<TakeOver, 'journal'> & PickOrder & { readonly ignored: boolean }>(
  order: T,
): Promise<T> {
  const { picks, pickScratch, sources, ignored, options } = order;
  if (picks === undefined || pickScratch === undefined) return order;
  const { paths = [], ...others } = options;
  const chosen = await choose({ place: sources[0]!.place, paths, ignored, scratch: pickScratch }, picks);
  return { ...order, chosen, options: { ...others, only: new Set(chosen.keys()) } };
}

export async function offerShown(input: ReviewInput): Promise<{ files: Uint8Array; others: readonly string[] }> {
  const { files, others } = await offer(input);
  return { files: json(files.map(offeredView)), others };
}

function offeredView({ path, from, section, ...rest }: OfferedFile): OfferedView {
  return {
    ...shownPath(path),
    ...(from === null ? {} : { from: toText(from) }),
    ...rest,
    section: section.toString('base64'),
  };
}

type TakenParts = Pick<TakenOver, 'paths' | 'digest' | 'hiddenInGit' | 'ignored'>;

function shown({ paths, digest, hiddenInGit, ignored }: TakenParts): TakenShown {
  const planned = { paths: json(paths.map(plannedView)), plan: digest, blocked: blockedBy(paths) };
  return { ...planned, hiddenInGit, ignored: ignoredView(ignored) };
}

export function undoShown(journal: string, trash: string): { paths: Uint8Array } {
  return { paths: json(undoApply(journal, trash).map(shownPath)) };
}

export function countChanges(place: WorkspacePlace): number {
  return listChanges(place).changes.length;
}

/** The number of changes, and the pathspecs that match none of them. */
export function countChangesAt(
  place: WorkspacePlace,
  pathspecs: readonly BytePath[],
): { count: number; idle: BytePath[] } {
  const { changes } = listChanges(place);
  return { count: changes.length, idle: pathFilter(pathspecs).idle(changes.map(({ path }) => path)) };
}

export function discardShown(
  place: WorkspacePlace,
  pathspecs: readonly BytePath[],
): { paths: Uint8Array; count: number } {
  const discarded = discardChanges(place, foldersOf(place, pathspecs));
  return { paths: json(discarded.map(shownPath)), count: discarded.length };
}

/** Plain paths stand for everything below them. If there is another pathspec, returns the changed paths that match. */
function foldersOf(place: WorkspacePlace, pathspecs: readonly BytePath[]): BytePath[] {
  const isPlain = (text: BytePath) => parsePathspec(text).words.length === 0 && !/[*?[\\]/.test(text);
  if (pathspecs.every(isPlain)) return [...pathspecs];
  const filter = pathFilter(pathspecs);
  return listChanges(place)
    .changes.map(({ path }) => path)
    .filter((path) => filter.matches(path));
}

/** JSON in memory of its own, which can be transferred between threads. */
function json(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
