/** What requests and answers about changes look like: review, apply, snapshots and forks. */
import { z } from 'zod';
import { command } from '../sandbox/api.ts';
import { changeKinds, entryTypes, gateKinds, outcomes, resolutions } from './model/change.ts';
import { maxHunkBytes } from './model/hunk-edit.ts';

const name = z.string().min(1).max(63);
/**
 * Relative to the workspace; `.` and a leading `./` are understood, and so is an absolute path below /workspace. With the wildcards
 * and words of git's pathspecs: `*.ts`, `:!docs`, `:(glob)src/*.ts`.
 */
const path = z.string().min(1).max(4096);
const paths = z.array(path).max(10_000);
/** Bytes of a path that are not text are shown as U+FFFD; then `pathBase64` has the bytes. */
const shownPath = { path: z.string(), pathBase64: z.string().optional() };
const entryType = z.enum(entryTypes);

/** Default: what git ignores is left out. */
const withIgnored = z.boolean().optional();

export const pathsRequest = z.strictObject({ paths: paths.optional(), ignored: withIgnored });

/** By id or by label. */
const snapshot = z.string().min(1).max(63);

export const compareRequest = pathsRequest.extend({
  /** Review this snapshot instead of the present state. */
  snapshot: snapshot.optional(),
  /** Compare with this sandbox, or with a snapshot of it, instead of the base; both have the same project. */
  against: z.strictObject({ name, snapshot: snapshot.optional() }).optional(),
});

/**
 * What was left out because git ignores it: how many files, and the topmost paths, at most 100. `more`: there are more files, which
 * were not counted.
 */
const ignoredView = z.strictObject({ files: z.int(), more: z.boolean(), places: z.array(z.string()) });

export const changeView = z.strictObject({
  ...shownPath,
  /** Added, modified, deleted, renamed, of another type. */
  status: z.enum(['A', 'M', 'D', 'R', 'T']),
  /** The old path of a renamed file. */
  from: z.string().optional(),
  oldType: entryType.nullable(),
  newType: entryType.nullable(),
  oldMode: z.int().nullable(),
  newMode: z.int().nullable(),
  oldSize: z.int().nullable(),
  newSize: z.int().nullable(),
  /** Numbers of lines; null: lines cannot be counted. */
  insertions: z.int().nullable(),
  deletions: z.int().nullable(),
  /** Hashes of files that are too large or too unusual to show. */
  oldSha256: z.string().optional(),
  newSha256: z.string().optional(),
  gates: z.array(z.enum(gateKinds)),
  /** A description of the change in one line, if it says more than the gates. */
  note: z.string().nullable(),
  /** False: the project changed it too, before the agent's change was recorded, so what the agent changed is not known. */
  baseKnown: z.boolean(),
});

export const changesView = z.strictObject({
  changes: z.array(changeView),
  /** The number of paths inside .git that differ; commits are fetched separately. */
  hiddenInGit: z.int(),
  ignored: ignoredView,
});

const entryView = z
  .strictObject({ type: entryType, mode: z.int(), sizeBytes: z.int(), target: z.string().nullable() })
  .nullable();

export const plannedView = z.strictObject({
  ...shownPath,
  sandbox: z.string(),
  change: z.enum(changeKinds),
  outcome: z.enum(outcomes),
  /** Always null: each path is a file of its own. */
  hardLink: z.null(),
  gates: z.array(z.enum(gateKinds)),
  /** A description of the change in one line, if it says more than the gates. */
  note: z.string().nullable(),
  conflict: z
    .strictObject({
      reason: z.string(),
      base: entryView,
      ours: entryView,
      theirs: entryView,
      with: z.string().nullable(),
    })
    .nullable(),
});

/** An edited hunk. It is taken instead of its blocks, which are all blocks of a hunk, or one. */
const edit = z.strictObject({
  blocks: z.array(z.int().min(0)).min(1).max(100_000),
  /** Its lines after the edit, as in a unified diff but without the `@@` line, in base64. Context and `-` lines are those of the base. */
  lines: z.base64().max(4 * Math.ceil(maxHunkBytes / 3)),
});

/** The part of one file to take: all of it, or some of its blocks, the runs of lines that differ, counted from 0. */
const pick = z.strictObject({
  /** The `id` of an offered file. */
  id: z.string().regex(/^[0-9a-f]{64}$/),
  blocks: z.array(z.int().min(0)).max(1_000_000).optional(),
  /** With `blocks`: whether the new mode is taken. */
  mode: z.boolean().optional(),
  /** Only with `blocks`, which must not contain the blocks of an edit. */
  edits: z.array(edit).max(1000).optional(),
});

export const offeredView = z.strictObject({
  ...shownPath,
  from: z.string().optional(),
  status: z.enum(['A', 'M', 'D', 'R', 'T']),
  /** The hash of its section. */
  id: z.string(),
  /** Whether its blocks can be taken one by one. */
  divisible: z.boolean(),
  /** The part of the unified diff about this file, in base64. */
  section: z.string(),
});

export const offerView = z.strictObject({
  files: z.array(offeredView),
  /** Lines about changes that have no section and cannot be picked: empty folders, unusual modes. */
  others: z.array(z.string()),
});

export const applyRequest = z.strictObject({
  /** One to apply; several to merge, in this order. */
  names: z.array(name).min(1).max(100),
  paths: paths.optional(),
  ignored: withIgnored,
  /** Take these parts only, of one sandbox; `paths` and `ignored` are those of the offer. */
  pick: z.array(pick).min(1).max(100_000).optional(),
  resolution: z.enum(resolutions).optional(),
  allow: z.array(z.enum(gateKinds)).max(gateKinds.length).optional(),
  /** From now on, always allow for this user and this project what `allow` contains. */
  always: z.boolean().optional(),
  /** Kinds that are no longer always allowed. Nothing is applied, and the answer is as with `dryRun`. */
  ask: z.array(z.enum(gateKinds)).min(1).max(gateKinds.length).optional(),
  dryRun: z.boolean().optional(),
  /** The `plan` of a dry run of the same request: if the plan has changed since, nothing is applied. */
  expect: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  /** Commit onto this branch instead of changing the project's files. */
  branch: z.string().min(1).max(255).optional(),
  message: z.string().min(1).max(65_536).optional(),
  author: z.strictObject({ name: z.string().min(1).max(256), email: z.string().min(1).max(256) }).optional(),
});

const fetchedCommit = z.strictObject({
  sandbox: z.string(),
  ref: z.string(),
  commit: z.string(),
  subject: z.string(),
  ahead: z.int(),
});

/** Refs that are new, or have new commits. */
export const fetchView = z.strictObject({ commits: z.array(fetchedCommit) });

export const logRequest = z.strictObject({ max: z.int().min(1).max(10_000).optional() });

/** Commits that no ref of the project has, the newest first. */
export const logView = z.strictObject({
  commits: z.array(
    z.strictObject({
      commit: z.string(),
      author: z.string(),
      at: z.string(),
      subject: z.string(),
      /** The refs whose tip it is. */
      refs: z.array(z.string()),
    }),
  ),
});

export const applyView = z.strictObject({
  /** Null: nothing was changed, because of `blocked`, `dryRun` or because there was nothing to do. */
  apply: z.string().nullable(),
  blocked: z.enum(['conflict', 'gated']).nullable(),
  paths: z.array(plannedView),
  /** A digest of what was planned: paths, decisions, modes and contents. Null after an apply without `expect`. */
  plan: z.string().nullable(),
  hiddenInGit: z.int(),
  ignored: ignoredView,
  /** Commits of the agent that are in the project's repository now. */
  commits: z.array(fetchedCommit),
  /** Why an agent's commits could not be fetched. */
  warnings: z.array(z.string()),
  branch: z.strictObject({ name: z.string(), commit: z.string() }).nullable(),
  /** Kinds that this user always allows for this project. */
  always: z.array(z.enum(gateKinds)),
});

export const undoView = z.strictObject({
  apply: z.string(),
  sandboxes: z.array(z.string()),
  paths: z.array(z.strictObject(shownPath)),
});

export const snapshotView = z.strictObject({
  id: z.string(),
  label: z.string().nullable(),
  createdAt: z.string(),
  /** True: it was taken automatically, before an operation that replaces the state. */
  auto: z.boolean(),
  sizeBytes: z.int(),
});

export const snapshotRequest = z.strictObject({ label: z.string().min(1).max(63).optional() });
export const restoreRequest = z.strictObject({ snapshot });
export const restoreView = z.strictObject({ restored: snapshotView, before: snapshotView });
export const discardView = z.strictObject({
  paths: z.array(z.strictObject(shownPath)),
  snapshot: snapshotView.nullable(),
});
export const forkRequest = z.strictObject({
  names: z.array(name).max(100).optional(),
  /** Instead of the command of the original. */
  command: command.min(1).optional(),
});
export const sizeView = z.strictObject({ name: z.string(), sizeBytes: z.int() });

export type CompareRequest = z.input<typeof compareRequest>;
export type ChangesView = z.output<typeof changesView>;
export type ChangeView = z.output<typeof changeView>;
export type OfferView = z.output<typeof offerView>;
export type OfferedView = z.output<typeof offeredView>;
export type ApplyRequest = z.input<typeof applyRequest>;
export type FetchView = z.output<typeof fetchView>;
export type LogView = z.output<typeof logView>;
export type ApplyView = z.output<typeof applyView>;
export type PlannedView = z.output<typeof plannedView>;
export type UndoView = z.output<typeof undoView>;
export type SnapshotView = z.output<typeof snapshotView>;
export type RestoreView = z.output<typeof restoreView>;
export type DiscardView = z.output<typeof discardView>;
export type SizeView = z.output<typeof sizeView>;
