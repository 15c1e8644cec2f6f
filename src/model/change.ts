/** What an agent changed, as values: one Change for each path that differs between a base and a working copy. */
import type { BytePath } from './byte-path.ts';

export const entryTypes = ['file', 'folder', 'link', 'fifo', 'socket', 'device'] as const;
export type EntryType = (typeof entryTypes)[number];

/** What stands at a path, without its content. */
export interface Entry {
  readonly type: EntryType;
  /** Permission bits, 0o777 at most; 0 for a link, which has none of its own. */
  readonly mode: number;
  /** Of a file; 0 for everything else. */
  readonly sizeBytes: number;
  /** Of a link. */
  readonly target: BytePath | null;
}

/** Where the bytes of a file are. */
export type Content =
  /** At the change's own path below this folder, or at that one; read by descriptors, never through a link. */
  | { readonly at: 'tree'; readonly root: string; readonly path?: BytePath }
  /** A part of a file that only we write. */
  | {
      readonly at: 'log';
      readonly file: string;
      readonly offset: number;
      readonly lengthBytes: number;
      readonly sha256: string;
    }
  /** Nowhere any more: too large to keep, and the project has moved on. Its hash, where that was kept. */
  | { readonly at: 'lost'; readonly sha256?: string };

export interface Change {
  /** Relative to the workspace, no leading slash, no `.` or `..`. */
  readonly path: BytePath;
  /** In the base. Null: it was not there. */
  readonly before: Entry | null;
  /** In the working copy. Null: the agent deleted it. Never both null; equal in everything only where `hardLink` is what changed. */
  readonly after: Entry | null;
  /** Another path of the working copy, changed or not, that is one file with this one; the same for all its names but that one. */
  readonly hardLink: BytePath | null;
  /** Of files only, else null. */
  readonly beforeContent: Content | null;
  readonly afterContent: Content | null;
  /**
   * True: `before` is exactly what the agent's change was made on. False: the project moved before that could be kept, and
   * `before` is only what the project has now, so nothing may be merged against it.
   */
  readonly baseKnown: boolean;
  /** Of what is gone with its folder, where the base is not known: it may have come later, so it is never deleted. */
  readonly perhapsUnseen?: true;
}

/** What could later run something on the host, by the way it would. */
export const gateKinds = [
  'git-hooks',
  'git-config',
  'attributes',
  'env',
  'editor',
  'agent',
  'ci',
  'scripts',
  'dependencies',
  'executable',
  'symlink',
] as const;
export type GateKind = (typeof gateKinds)[number];

/** What to do with conflicts; null: do nothing at all while there are any. */
export const resolutions = ['theirs', 'ours', 'markers', 'leave'] as const;
export type Resolution = (typeof resolutions)[number];

/** What an apply does, or would do, about one path of one sandbox. */
export const outcomes = [
  /** The project is as the base was: the agent's is taken. */
  'take',
  /** Both changed it, and the changes go together. */
  'merge',
  /** The project has it so already. */
  'same',
  /** A conflict, decided by the resolution. */
  'theirs',
  'ours',
  'markers',
  /** Not taken: a conflict or a gate, and `leave` was asked for. */
  'left',
  /** Stands in the way of the whole apply. */
  'conflict',
  'gated',
] as const;
export type Outcome = (typeof outcomes)[number];

export const changeKinds = ['added', 'modified', 'deleted', 'retyped', 'mode', 'linked'] as const;

export interface PlannedPath {
  readonly path: BytePath;
  /** Whose change it is. */
  readonly sandbox: string;
  readonly change: (typeof changeKinds)[number];
  readonly outcome: Outcome;
  /** It is taken as another name of the file at that path; null: it is not. */
  readonly hardLink: BytePath | null;
  readonly gates: readonly GateKind[];
  /** What changed, in one line, where that is more than the gates say. */
  readonly note: string | null;
  /** For conflicts, whatever became of them. */
  readonly conflict: Conflict | null;
}

export interface Conflict {
  /** In words: both changed the same lines; deleted here, changed there; … */
  readonly reason: string;
  /** Null where it does not exist. `ours` is the project's, `theirs` the agent's. */
  readonly base: Entry | null;
  readonly ours: Entry | null;
  readonly theirs: Entry | null;
  /** The sandbox that `ours` comes from, when several are merged; null: the project's own. */
  readonly with: string | null;
}
