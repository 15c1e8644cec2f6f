/**
 * An apply takes changes of working copies over into their project. An undo takes an apply back.
 *
 * Life: plan → stage → exchange → done, and perhaps undone.
 * - `planApply` (plan/plan.ts) reads the changes and the project, decides each path by three-way merge, and checks the
 *   changes that it takes against the gates (gate/gate.ts). The result is an `ApplyPlan`: plain data that can be shown
 *   before anything is done.
 * - `commitApply` (commit/commit.ts) carries a plan out. It writes a journal, stages everything new in a folder inside the
 *   project (stage/stage.ts), marks the journal as ready, and exchanges each path with what it replaces.
 * - `recover` (recover.ts) runs when a daemon starts: it finishes a journal that is ready and rolls back one that is not.
 * - `undoApply` (undo.ts) plans the inverse steps from the journal and carries them out in the same way.
 *
 * Promises, each proved by the integration tests named `apply-*`:
 * - An apply is done as a whole or not at all, also after a crash at any moment. A plan with a conflict, or with a gate that
 *   is not allowed, changes nothing.
 * - What the owner changes meanwhile is never overwritten. The entry that an exchange takes out of the project is
 *   compared with the one that the plan saw; if they differ, the path is decided again, or the apply is rolled back.
 * - The journal keeps the replaced entries until the apply is undone or the journal is removed. An undo refuses a path
 *   that was changed after the apply.
 * - No link is followed: neither in the project nor in a working copy. A path that is one of several hard links is a file
 *   like any other: a new file takes its place, as with git's checkout, and nothing is written or set through it.
 * - A change that could run a program on the host (hooks, settings, scripts, …) is taken only if its gate is allowed.
 */
import type { BytePath } from '../../../model/byte-path.ts';
import type { Change, GateKind, PlannedPath, Resolution } from '../model/change.ts';
import type { Owner } from '../tree/open-entry.ts';
import type { ContentSource } from '../tree/reader.ts';
import type { GateContext } from './gate/gate-context.ts';
import type { Stamp } from './stamp.ts';

export interface ApplySource {
  readonly sandbox: string;
  /**
   * Listed right before the plan: if the base is the project itself, the plan reads the base from the project as it is
   * now.
   */
  readonly changes: readonly Change[];
}

export interface ApplyOptions {
  readonly resolution: Resolution | null;
  readonly allow: readonly GateKind[];
  /** The links and git settings of the project, which gates depend on. */
  readonly gateContext?: GateContext;
  /** Limits the apply to these pathspecs. */
  readonly paths?: readonly BytePath[];
  /** Limits the apply to exactly these paths. */
  readonly only?: ReadonlySet<BytePath>;
  /** True for a path that the target cannot store: the plan leaves the path and decides nothing else about it. */
  readonly cannotHold?: (path: BytePath) => boolean;
}

/** `old`: the entry that the project must have at the path now; null: none. */
export type ApplyStep =
  /** A file or link. */
  | { readonly do: 'remove'; readonly path: BytePath; readonly old: Stamp }
  /** `kept`: the folder stays, without an error, if something was put into it. */
  | { readonly do: 'rmdir'; readonly path: BytePath; readonly old: Stamp; readonly kept: boolean }
  | { readonly do: 'mkdir'; readonly path: BytePath; readonly old: Stamp | null; readonly make: NewFolder }
  | { readonly do: 'file'; readonly path: BytePath; readonly old: Stamp | null; readonly make: NewFile }
  | { readonly do: 'link'; readonly path: BytePath; readonly old: Stamp | null; readonly target: BytePath }
  /** Puts back a file or link that an apply took out and kept at the host path `kept`. */
  | {
      readonly do: 'restore';
      readonly path: BytePath;
      readonly old: Stamp | null;
      readonly kept: string;
      readonly was: Stamp;
    }
  | { readonly do: 'chmod'; readonly path: BytePath; readonly old: Stamp; readonly mode: number };

export interface NewFile {
  /** 0o777 at most. */
  readonly mode: number;
  readonly sizeBytes: number;
  readonly source: ContentSource;
  /** Hash of the content that a gate checked; null: no gate read it. */
  readonly sha256: string | null;
}

export interface NewFolder {
  readonly mode: number;
  /** Null: the owner of the project's folder. */
  readonly owner: Owner | null;
}

export interface ApplyPlan {
  readonly paths: readonly PlannedPath[];
  /** True: a conflict or a gate blocks the apply, so there are no steps. */
  readonly blocked: boolean;
  /** In the order they are done. */
  readonly steps: readonly ApplyStep[];
}

export type FileStep = ApplyStep & { readonly do: 'file' };

/** Decides one path again, by the project as it is now; null: the result is not one file that replaces another. */
export type Remake = (path: BytePath) => FileStep | null;
