/**
 * An apply takes changes of working copies over into their project. An undo takes an apply back.
 *
 * Life: plan → stage → exchange → done, and perhaps undone.
 * - `planApply` (plan-apply.ts) reads the changes and the project, decides each path by three-way merge, and passes what is
 *   taken through the gates. The result is a `Plan`: plain data that can be shown before anything is done.
 * - `commitApply` (commit-steps.ts) carries a plan out. It writes a journal, stages everything new in a folder inside the
 *   project, marks the journal as ready, and exchanges each path with what it replaces.
 * - `recover` (recover.ts) runs when a daemon starts: it finishes a journal that is ready and rolls back one that is not.
 * - `undoApply` (undo.ts) plans the inverse steps from the journal and carries them out in the same way.
 *
 * Promises, each proved by the integration tests named `apply-*`:
 * - An apply is done as a whole or not at all, also after a crash at any moment. A plan with a conflict, or with a gate that
 *   is not allowed, changes nothing.
 * - What the owner changes meanwhile is never overwritten. What an exchange brings out is compared with what the plan saw;
 *   if it differs, the path is decided again, or everything goes back.
 * - What was replaced stays with the journal until it is undone or the journal is removed. An undo refuses a path that was
 *   changed after the apply.
 * - No link is followed: neither in the project nor in a working copy.
 * - What can run something on the host (hooks, settings, scripts, …) is taken only if its gate is allowed.
 */
import type { BytePath } from '../../model/byte-path.ts';
import type { Change, GateKind, PlannedPath, Resolution } from '../../model/change.ts';
import type { Owner } from '../tree/held.ts';
import type { Source } from '../tree/reader.ts';
import type { GateContext } from './gate-context.ts';
import type { Stamp } from './stamp.ts';

export interface ApplySource {
  readonly sandbox: string;
  /** Listed just now: a base that is the project itself is taken to be what the project still has. */
  readonly changes: readonly Change[];
}

export interface ApplyOptions {
  readonly resolution: Resolution | null;
  readonly allow: readonly GateKind[];
  /** Of the project that gates are for. */
  readonly gateContext?: GateContext;
  /** Only what is at or below these. */
  readonly paths?: readonly BytePath[];
  /** What the target cannot hold: left, whatever else is decided. */
  readonly cannotHold?: (path: BytePath) => boolean;
}

/** `old` is what has to be there; null: nothing. */
export type ApplyStep =
  /** A file or link. */
  | { readonly do: 'remove'; readonly path: BytePath; readonly old: Stamp }
  /** `kept`: stays without complaint if somebody puts something there. */
  | { readonly do: 'rmdir'; readonly path: BytePath; readonly old: Stamp; readonly kept: boolean }
  | { readonly do: 'mkdir'; readonly path: BytePath; readonly old: Stamp | null; readonly make: NewFolder }
  | { readonly do: 'file'; readonly path: BytePath; readonly old: Stamp | null; readonly make: NewFile }
  /** Another name of what a step before this one makes at `to`, or, where `was` is given, of what the project has there. */
  | {
      readonly do: 'hardlink';
      readonly path: BytePath;
      readonly old: Stamp | null;
      readonly to: BytePath;
      readonly was: Stamp | null;
      /** Where it cannot have another name. */
      readonly make: NewFile;
    }
  | { readonly do: 'link'; readonly path: BytePath; readonly old: Stamp | null; readonly target: BytePath }
  /** A file or link that an apply took away and kept, at that path. */
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
  readonly source: Source;
  /** What was judged, where the content was; null: nobody looked inside. */
  readonly sha256: string | null;
}

export interface NewFolder {
  readonly mode: number;
  /** Null: as the project itself. */
  readonly owner: Owner | null;
}

export interface Plan {
  readonly paths: readonly PlannedPath[];
  /** A conflict or a gate stands in the way: nothing is done. */
  readonly blocked: boolean;
  /** In the order they are done. */
  readonly steps: readonly ApplyStep[];
}

export type FileStep = ApplyStep & { readonly do: 'file' };

/** What to put at a path of the project as it is now; null: that is no longer one new file for another. */
export type Remake = (path: BytePath) => FileStep | null;
