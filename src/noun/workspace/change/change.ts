/**
 * The changes of an agent, and the base of each change.
 *
 * Life of a change: the agent writes to its working copy; an observation records the base of the path; `diff` lists it;
 * an apply takes it over or a discard removes it. An observation costs no more than a walk over the changed paths, so
 * the base is observed before a command starts, when it ends, every few seconds while it runs, and before an apply.
 * - `listChanges` (changes.ts) compares a working copy with its base: an overlay by its upper layer, a copy by both trees.
 * - `keepBases` (base/base.ts) observes the base: it writes a record of each changed path to `base.log`
 *   (base/base-log.ts).
 * - `adoptAgentVersions` makes the agent's version the base of paths that were applied; `voidApply` takes that back
 *   after an undo.
 * - `discardChanges` (discard.ts) makes paths equal to the base again; `finishDiscard` completes one that a crash cut short.
 * - `foldIndex` (overlay/fold-index.ts) turns the kernel's index of hard links into names in the upper layer before each mount.
 *
 * Promises, proved by the conformance suite `test/conformance/workspace`:
 * - Every path that differs is listed once, with its base. If the base cannot be known for certain, `baseKnown` is false and
 *   nothing is merged against it.
 * - Nothing is read through what an agent made: links, FIFOs, devices, or marks of an overlay that the kernel did not write.
 * - `base.log` only grows until it is replaced as a whole, so a crash costs at most its last record.
 * - A working copy has one writer at a time: the caller holds its lock for everything but `listChanges`.
 */
import type { BytePath } from '../../../model/byte-path.ts';
import type { Change, Content, Entry, FileIdentity } from '../model/change.ts';
import type { WalkedPath } from '../tree/walk.ts';

export interface Changes {
  readonly changes: readonly Change[];
  /** Paths that differ inside `.git` folders and are not listed. */
  readonly hiddenInGit: number;
  /** The length of the base log after the observation that listed these changes. Absent: there was none. */
  readonly logBytes?: number | undefined;
  /** Folders whose entries are not listed. */
  readonly skipped?: readonly Skipped[];
}

/** A folder of the agent whose entries are not listed, since it is left out as a whole. */
export interface Skipped {
  readonly path: BytePath;
  /** Files in the folder, at any depth. */
  readonly files: number;
  /** True: there are more files than were counted. */
  readonly more: boolean;
}

/** Decides which folders a walk leaves out, of those that the base does not have. */
export interface Skipping {
  skips(walked: WalkedPath): boolean;
  readonly found: readonly Skipped[];
}

/** The base of the agent's change of one path. */
export interface Base {
  readonly entry: Entry | null;
  readonly content: Content | null;
  readonly known: boolean;
  /** Hash of a file's content, if it is known. */
  readonly sha256: string | null;
  /** Identity of the project's file, if it is known to equal this. */
  readonly identity: FileIdentity | null;
}

export type BaseOrigin =
  /** The project had this. */
  | 'project'
  /** The agent's own version, which the project has taken over. */
  | 'applied'
  /** The project had nothing there. */
  | 'absent'
  /** The owner changed it before an observation could record it. */
  | 'unknown';

export interface BaseRecord {
  readonly origin: BaseOrigin;
  readonly entry: Entry | null;
  /** Identity of the project's file or folder, if it is known to equal this record. */
  readonly identity: FileIdentity | null;
  /** Hash of a file's content, if it was read. */
  readonly sha256: string | null;
  /** The position of the content in the log; null: it was not kept. */
  readonly content: { readonly offset: number; readonly lengthBytes: number } | null;
  /** The apply that took this over; null: none. */
  readonly apply: string | null;
  /** The record that counts again if that apply is undone. */
  readonly previous: BaseRecord | null;
}

export interface BaseLog {
  readonly file: string;
  readonly records: ReadonlyMap<BytePath, BaseRecord>;
  readonly lookedNs: bigint | null;
  /**
   * Paths below which the base was hidden at some observation. A path there without a record came later, and the agent
   * never saw it.
   */
  readonly hiding: ReadonlySet<BytePath>;
  /** The length of all complete records. */
  readonly wholeBytes: number;
  /** The offset of the note of the last observation, if nothing follows it. */
  readonly observationOffset: number | null;
}
