/** Turns a request to apply into the order for the job that does it. */
import type { ApplyRequest } from '../api.ts';
import type { ApplyOptions } from '../apply/apply.ts';
import type { HunkEdit } from '../model/hunk-edit.ts';
import type { ChangeSource } from '../take-over.ts';
import { bytePaths, type OpenedWorkspace } from './workspaces.ts';

export function sourcesOf(opened: readonly OpenedWorkspace[]): ChangeSource[] {
  return opened.map(({ sandbox, place }) => ({ sandbox: sandbox.name, place }));
}

export function isDry({ dryRun = false, ask }: ApplyRequest): boolean {
  return dryRun || ask !== undefined;
}

/** `pickScratch`: the folder for versions that are made of the picked parts. */
export type ApplyOrder = ApplyRequest & { readonly pickScratch: string | undefined };

export function orderOf(opened: readonly OpenedWorkspace[], project: string, request: ApplyOrder) {
  const { ignored = false, pick, pickScratch } = request;
  const picks = pick?.map((one) => ({ ...one, edits: one.edits?.map(editOf) }));
  return { sources: sourcesOf(opened), project, options: optionsOf(request), ignored, picks, pickScratch };
}

/** How many hunks have content from the client. */
export function editedIn(pick: ApplyRequest['pick'] = []): number | undefined {
  return pick.flatMap(({ edits = [] }) => edits).length || undefined;
}

type Edits = NonNullable<NonNullable<ApplyRequest['pick']>[number]['edits']>;

function editOf({ blocks, lines }: Edits[number]): HunkEdit {
  return { blocks, lines: Buffer.from(lines, 'base64').toString('latin1') };
}

function optionsOf({ paths, resolution, allow = [] }: ApplyRequest): ApplyOptions {
  return { resolution: resolution ?? null, allow, ...(paths ? { paths: bytePaths(paths) } : {}) };
}
