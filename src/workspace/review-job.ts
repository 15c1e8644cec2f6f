/** A complete review, from a working copy to what is shown of it. Slow for many changes, so it runs in a thread. */

import { closeSync, openSync, writeSync } from 'node:fs';
import { type BytePath, fromBytes, fromText, toText } from '../model/byte-path.ts';
import type { Change } from '../model/change.ts';
import { Fault } from '../model/fault.ts';
import { pathFilter } from '../model/pathspec.ts';
import { type Verdict, verdictOf } from './apply/gate.ts';
import { type GateContext, withGateContext } from './apply/gate-context.ts';
import { changesBetween } from './change/between.ts';
import type { Changes } from './change/change.ts';
import { listChanges } from './change/changes.ts';
import { quoteName } from './git/git.ts';
import { openStore } from './git/git-store.ts';
import { makePatch, type PatchHead } from './git/patch.ts';
import { type ChangeSummary, summary, unifiedDiff } from './git/review.ts';
import { leftOut } from './git/review-notes.ts';
import { type Ignored, ignoredPaths, split } from './ignored.ts';
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

export interface Reviewed {
  readonly changes: readonly (ChangeSummary & Verdict)[];
  readonly hiddenInGit: number;
  readonly ignored: Ignored;
}

export async function review(input: ReviewInput): Promise<Reviewed> {
  const { changes, ...left } = await reviewedChanges(input);
  const verdicts = verdictsOn(input, changes);
  const store = await openStore({ changes, folder: input.scratch });
  const summaries = await summary(store);
  return { changes: summaries.map((one) => ({ ...one, ...(verdicts.get(exactPath(one)) ?? unjudged) })), ...left };
}

/** What differs between two working copies is not applied, so nothing is gated. */
function verdictsOn({ place, against }: ReviewInput, changes: readonly Change[]): ReadonlyMap<BytePath, Verdict> {
  if (against !== undefined) return new Map();
  return withGateContext(
    place.project,
    changes,
    (gateContext) => new Map(changes.map((change) => [change.path, verdictOn(change, gateContext)])),
  );
}

function exactPath({ path, pathBase64 }: ChangeSummary): BytePath {
  return pathBase64 === undefined ? fromText(path) : fromBytes(Buffer.from(pathBase64, 'base64'));
}

const unjudged: Verdict = { gates: [], note: null };

function verdictOn(change: Change, gateContext: GateContext): Verdict {
  const { path, beforeContent, afterContent } = change;
  const content = {
    before: (maxBytes: number) => beforeContent && readContent(beforeContent, path, maxBytes),
    after: (maxBytes: number) => afterContent && readContent(afterContent, path, maxBytes),
  };
  return verdictOf(change, content, gateContext);
}

/** Writes the unified diff to a file. */
export async function writeDiff(input: ReviewInput, file: string): Promise<void> {
  const { changes, ...left } = await reviewedChanges(input);
  if (changes.length === 0) return writeAll(file, leftLines(left));
  const store = await openStore({ changes, folder: input.scratch });
  await writeAll(file, unifiedDiff(store, left));
}

export interface WrittenPatch {
  /** Paths that it cannot carry. */
  readonly leftOut: readonly BytePath[];
  /** Paths that could run something where the patch is applied, since there are no gates there. */
  readonly gated: readonly (Verdict & { readonly path: BytePath })[];
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

function isGated({ gates }: Verdict): boolean {
  return gates.length > 0;
}

function marksOf(gated: readonly (Verdict & { readonly path: BytePath })[]): string[] {
  if (gated.length === 0) return [];
  return ['Could run something here:', ...gated.map(({ path, gates }) => `  ${quoteName(path)} [${gates.join(', ')}]`)];
}

export interface ReviewedChanges extends Changes {
  readonly ignored: Ignored;
}

/** The changes that the input asks for. */
export async function reviewedChanges({ place, against, paths, ignored }: ReviewInput): Promise<ReviewedChanges> {
  const listed = against ? { changes: changesBetween(place, against), hiddenInGit: 0 } : listChanges(place);
  const filter = pathFilter(paths);
  const [idle] = filter.idle(listed.changes.map(({ path }) => path));
  if (idle !== undefined) throw new Fault('not_found', `nothing ${against ? 'differs' : 'changed'} at ${toText(idle)}`);
  const asked = paths.length === 0 ? listed.changes : listed.changes.filter(({ path }) => filter.matches(path));
  const found = split(asked, ignored ? new Set() : await ignoredPaths(place.project, asked));
  return { ...found, hiddenInGit: paths.length === 0 ? listed.hiddenInGit : 0 };
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
