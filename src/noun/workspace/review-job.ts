/** A complete review, from a working copy to what is shown of it. Slow for many changes, so it runs in a thread. */

import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type BytePath, fromBytes, fromText, toText } from '../../model/byte-path.ts';
import { Fault } from '../../model/fault.ts';
import { pathFilter } from '../../model/pathspec.ts';
import { type GateVerdict, verdictOf } from './apply/gate/gate.ts';
import { beginGateFacts, type GateContext, type GateFacts, withGateContext } from './apply/gate/gate-context.ts';
import { changesBetween } from './change/between.ts';
import type { Changes } from './change/change.ts';
import { listChanges } from './change/changes.ts';
import { quoteName } from './git/git.ts';
import { type GitStore, openStore } from './git/review/git-store.ts';
import { makePatch, type PatchHead } from './git/review/patch.ts';
import { type ChangeSummary, summary, unifiedDiff } from './git/review/review.ts';
import { leftOut } from './git/review/review-notes.ts';
import { type Ignored, ignoredPaths, split, unskipped } from './ignored.ts';
import { IgnoredFolders } from './ignored-folders.ts';
import type { Change } from './model/change.ts';
import { readContent } from './tree/content.ts';
import type { WorkspacePlace } from './workspace.ts';

export interface ReviewInput {
  readonly place: WorkspacePlace;
  /** Compares with this working copy instead of the base: from `place` to this one. */
  readonly against?: WorkspacePlace | undefined;
  /** Limits the review to these pathspecs; empty: everything. */
  readonly paths: readonly BytePath[];
  /** Whether paths that git ignores are listed, too. */
  readonly ignored: boolean;
  /** An empty, private folder. */
  readonly scratch: string;
}

export interface ReviewedWorkspace {
  readonly changes: readonly (ChangeSummary & GateVerdict)[];
  readonly hiddenInGit: number;
  readonly ignored: Ignored;
}

export async function review(input: ReviewInput): Promise<ReviewedWorkspace> {
  const readFacts = input.against === undefined ? beginGateFacts(input.place.project) : async () => null;
  const storing = reviewedStore(input);
  // Folders are read while git is asked what it ignores.
  const [{ store, left }, facts] = await Promise.all([storing, readFacts()]);
  const summarising = summary(store);
  // Git compares while the gates are checked. If that check fails, an error of git does not matter.
  summarising.catch(() => {});
  const verdicts = verdictsOn(input, store.changes, facts);
  const summaries = await summarising;
  return { changes: summaries.map((one) => ({ ...one, ...(verdicts.get(exactPath(one)) ?? unjudged) })), ...left };
}

/** A difference between two working copies is not applied, so nothing is gated. */
function verdictsOn(
  { place, against }: ReviewInput,
  changes: readonly Change[],
  gateFacts: GateFacts | null,
): ReadonlyMap<BytePath, GateVerdict> {
  if (against !== undefined) return new Map();
  return withGateContext(
    place.project,
    changes,
    (gateContext) => new Map(changes.map((change) => [change.path, verdictOn(change, gateContext)])),
    gateFacts,
  );
}

function exactPath({ path, pathBase64 }: ChangeSummary): BytePath {
  return pathBase64 === undefined ? fromText(path) : fromBytes(Buffer.from(pathBase64, 'base64'));
}

const unjudged: GateVerdict = { gates: [], note: null };

function verdictOn(change: Change, gateContext: GateContext): GateVerdict {
  const { path, beforeContent, afterContent } = change;
  const content = {
    before: (maxBytes: number) => beforeContent && readContent(beforeContent, path, maxBytes),
    after: (maxBytes: number) => afterContent && readContent(afterContent, path, maxBytes),
  };
  return verdictOf(change, content, gateContext);
}

/** Writes the unified diff to a file. */
export async function writeDiff(input: ReviewInput, file: string): Promise<void> {
  const { store, left } = await reviewedStore(input);
  await writeAll(file, store.changes.length === 0 ? leftLines(left) : unifiedDiff(store, left));
}

export interface WrittenPatch {
  /** Paths that it cannot carry. */
  readonly leftOut: readonly BytePath[];
  /** Paths that could run something where the patch is applied, since there are no gates there. */
  readonly gated: readonly (GateVerdict & { readonly path: BytePath })[];
}

/** Writes the mail for `git am`. */
export async function writePatch(input: ReviewInput, head: PatchHead, file: string): Promise<WrittenPatch> {
  const { changes } = await reviewedChanges(input);
  if (changes.length === 0) {
    await writeAll(file, []);
    return { leftOut: [], gated: [] };
  }
  const verdicts = withGateContext(input.place.project, changes, (gateContext) =>
    changes.map((change) => ({ path: change.path, ...verdictOn(change, gateContext) })),
  );
  const { mail, leftOut } = await makePatch(changes, input.scratch, head, marksOf(verdicts.filter(isGated)));
  await writeAll(file, mail);
  const absent = new Set(leftOut);
  return { leftOut, gated: verdicts.filter((one) => isGated(one) && !absent.has(one.path)) };
}

function isGated({ gates }: GateVerdict): boolean {
  return gates.length > 0;
}

function marksOf(gated: readonly (GateVerdict & { readonly path: BytePath })[]): string[] {
  if (gated.length === 0) return [];
  return ['Could run something here:', ...gated.map(({ path, gates }) => `  ${quoteName(path)} [${gates.join(', ')}]`)];
}

export interface ReviewedChanges extends Changes {
  readonly ignored: Ignored;
}

/** The changes that the input asks for. */
export async function reviewedChanges(input: ReviewInput): Promise<ReviewedChanges> {
  const requested = requestedChanges(input);
  return withoutIgnored(requested, await ignoredIn(input, requested));
}

/**
 * Like `reviewedChanges`, in a store. One git reads all changes while another is asked which of them it ignores: mostly
 * none; otherwise the changes are read again without the ignored ones.
 */
async function reviewedStore(input: ReviewInput): Promise<{ store: GitStore; left: Omit<ReviewedChanges, 'changes'> }> {
  const requested = requestedChanges(input);
  const ignoring = ignoredIn(input, requested);
  const guess = beginStore(unskipped(requested), join(input.scratch, 'guess'));
  try {
    const ignored = await ignoring;
    const { changes, ...left } = withoutIgnored(requested, ignored);
    if (ignored.size === 0) return { store: await guess.store, left };
    const [store] = await Promise.all([openStore({ changes, folder: input.scratch }), guess.drop()]);
    return { store, left };
  } finally {
    await guess.drop();
  }
}

/** `drop` returns when git has ended and writes nothing any more. */
function beginStore(changes: readonly Change[], folder: string): { store: Promise<GitStore>; drop(): Promise<void> } {
  const unwanted = new AbortController();
  const store = openStore({ changes, folder, signal: unwanted.signal });
  const ended = store.then(
    () => {},
    () => {},
  );
  return {
    store,
    drop: () => {
      unwanted.abort();
      return ended;
    },
  };
}

/** The requested changes, including those that git ignores. */
function requestedChanges({ place, against, paths, ignored }: ReviewInput): Changes {
  // If paths are named, every change at them has to be known.
  const skipping = ignored || paths.length > 0 ? undefined : new IgnoredFolders(place);
  const listed: Changes = against
    ? { changes: changesBetween(place, against), hiddenInGit: 0 }
    : listChanges(place, skipping);
  const filter = pathFilter(paths);
  const [idle] = filter.idle(listed.changes.map(({ path }) => path));
  if (idle !== undefined) throw new Fault('not_found', `nothing ${against ? 'differs' : 'changed'} at ${toText(idle)}`);
  if (paths.length === 0) return listed;
  return { ...listed, changes: listed.changes.filter(({ path }) => filter.matches(path)), hiddenInGit: 0 };
}

async function ignoredIn({ place, ignored }: ReviewInput, requested: Changes): Promise<ReadonlySet<BytePath>> {
  return ignored ? new Set() : ignoredPaths(place.project, unskipped(requested));
}

function withoutIgnored(requested: Changes, ignored: ReadonlySet<BytePath>): ReviewedChanges {
  return { ...split(requested.changes, ignored, requested.skipped), hiddenInGit: requested.hiddenInGit };
}

function leftLines(left: Omit<ReviewedChanges, 'changes'>): Buffer[] {
  return leftOut(left).map((line) => Buffer.from(`${line}\n`));
}

async function writeAll(file: string, chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> {
  const fd = openSync(file, 'wx', 0o600);
  try {
    for await (const chunk of chunks) for (let at = 0; at < chunk.length; ) at += writeSync(fd, chunk, at);
  } finally {
    closeSync(fd);
  }
}
