/** A complete review, from a working copy to what is shown of it. Slow for many changes, so it runs in a thread. */

import { closeSync, openSync, writeSync } from 'node:fs';
import { type BytePath, fromBytes, fromText, isWithin, toText } from '../model/byte-path.ts';
import type { Change } from '../model/change.ts';
import { Fault } from '../model/fault.ts';
import { type Verdict, verdictOf } from './apply/gate.ts';
import { type GateContext, withGateContext } from './apply/gate-context.ts';
import type { Changes } from './change/change.ts';
import { listChanges } from './change/changes.ts';
import { quoteName } from './git/git.ts';
import { openStore } from './git/git-store.ts';
import { makePatch, type PatchHead } from './git/patch.ts';
import { type ChangeSummary, summary, unifiedDiff } from './git/review.ts';
import { readContent } from './tree/content.ts';
import type { WorkspacePlace } from './workspace.ts';

export interface ReviewInput {
  readonly place: WorkspacePlace;
  /** Limits the review to these paths and what is below them; empty: everything. */
  readonly paths: readonly BytePath[];
  /** An empty, private folder. */
  readonly scratch: string;
}

export interface Reviewed {
  readonly changes: readonly (ChangeSummary & Verdict)[];
  readonly hiddenInGit: number;
}

export async function review(input: ReviewInput): Promise<Reviewed> {
  const { changes, hiddenInGit } = wanted(input);
  const verdicts = withGateContext(
    input.place.project,
    changes,
    (gateContext) => new Map(changes.map((change) => [change.path, verdictOn(change, gateContext)])),
  );
  const store = await openStore({ changes, folder: input.scratch });
  const summaries = await summary(store);
  return { changes: summaries.map((one) => ({ ...one, ...(verdicts.get(exactPath(one)) ?? unjudged) })), hiddenInGit };
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
  const { changes, hiddenInGit } = wanted(input);
  if (changes.length === 0 && hiddenInGit === 0) return writeAll(file, []);
  const store = await openStore({ changes, folder: input.scratch });
  await writeAll(file, unifiedDiff(store, hiddenInGit));
}

export interface WrittenPatch {
  /** Paths that it cannot carry. */
  readonly leftOut: readonly BytePath[];
  /** Paths that could run something where the patch is applied, since there are no gates there. */
  readonly gated: readonly (Verdict & { readonly path: BytePath })[];
}

/** Writes the mail for `git am`. */
export async function writePatch(input: ReviewInput, head: PatchHead, file: string): Promise<WrittenPatch> {
  const { changes } = wanted(input);
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

function wanted({ place, paths }: ReviewInput): Changes {
  const { changes, hiddenInGit } = listChanges(place);
  const found = (folder: BytePath) => changes.some(({ path }) => isWithin(path, folder));
  const idle = paths.filter((path) => !found(path));
  if (idle.length > 0) throw new Fault('not_found', `nothing changed at ${idle.map(toText).join(', ')}`);
  if (paths.length === 0) return { changes, hiddenInGit };
  return { changes: changes.filter(({ path }) => paths.some((folder) => isWithin(path, folder))), hiddenInGit: 0 };
}

async function writeAll(file: string, chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> {
  const fd = openSync(file, 'wx', 0o600);
  try {
    for await (const chunk of chunks) for (let at = 0; at < chunk.length; ) at += writeSync(fd, chunk, at);
  } finally {
    closeSync(fd);
  }
}
