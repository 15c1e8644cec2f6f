/** What an agent changed, as values: one Change for each path that differs between a base and a working copy. */
import type { BytePath } from '../../../model/byte-path.ts';

export const entryTypes = ['file', 'folder', 'link', 'fifo', 'socket', 'device'] as const;
export type EntryType = (typeof entryTypes)[number];

/** What is at a path, without its content. */
export interface Entry {
  readonly type: EntryType;
  /** Permission bits, 0o777 at most; 0 for a link, which has none. */
  readonly mode: number;
  /** The size of a file; 0 for other types. */
  readonly sizeBytes: number;
  /** The target of a link; null for other types. */
  readonly target: BytePath | null;
}

/** Where the bytes of a file are. */
export type Content =
  /** Below this folder, at `path` or at the path of the change; read by descriptors, never through a link. */
  | { readonly at: 'tree'; readonly root: string; readonly path?: BytePath }
  /** A part of a log that only the daemon writes. */
  | {
      readonly at: 'log';
      readonly file: string;
      readonly offset: number;
      readonly lengthBytes: number;
      readonly sha256: string;
    }
  /** No longer stored: too large to keep, and the owner changed the file. Its hash, if that was kept. */
  | { readonly at: 'lost'; readonly sha256?: string };

/** One state of a file: two that are equal have the same inode and the same times. */
export interface FileIdentity {
  readonly dev: string;
  readonly ino: string;
  readonly sizeBytes: string;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
}

export interface Change {
  /** Relative to the workspace, no leading slash, no `.` or `..`. */
  readonly path: BytePath;
  /** The entry in the base. Null: the path does not exist in the base. */
  readonly before: Entry | null;
  /** The entry in the working copy. Null: the agent deleted it. Never both null. */
  readonly after: Entry | null;
  /** The contents of files; null for other types. */
  readonly beforeContent: Content | null;
  readonly afterContent: Content | null;
  /** The state of the project's file when the daemon knew that it equals `before`. Absent: no such file was seen. */
  readonly beforeFile?: FileIdentity;
  /**
   * True: `before` is exactly what the agent's change was made on. False: the owner changed the path before it was recorded, and
   * `before` is only what the project has now, so nothing may be merged against it.
   */
  readonly baseKnown: boolean;
  /**
   * The path is gone with its folder, and its base is not known: the owner may have added it later, so an apply never
   * deletes it.
   */
  readonly perhapsUnseen?: true;
}

/** Kinds of changes that could later run something on the host. */
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

/** What to do with conflicts; null: any conflict blocks the apply. */
export const resolutions = ['theirs', 'ours', 'markers', 'leave'] as const;
export type Resolution = (typeof resolutions)[number];

/** What an apply does, or would do, about one path of one sandbox. */
export const outcomes = [
  /** The project equals the base: the agent's version is taken. */
  'take',
  /** The owner and the agent changed it, and the changes merge. */
  'merge',
  /** The project has the agent's version already. */
  'same',
  /** A conflict, decided by the resolution. */
  'theirs',
  'ours',
  'markers',
  /** Not taken: a conflict or a gate, with the resolution `leave`. */
  'left',
  /** Blocks the whole apply. */
  'conflict',
  'gated',
] as const;
export type PathOutcome = (typeof outcomes)[number];

export const changeKinds = ['added', 'modified', 'deleted', 'retyped', 'mode'] as const;

export interface PlannedPath {
  readonly path: BytePath;
  /** The sandbox that the change is from. */
  readonly sandbox: string;
  readonly change: (typeof changeKinds)[number];
  readonly outcome: PathOutcome;
  readonly gates: readonly GateKind[];
  /** The change in one line, if it is more than the gates say. */
  readonly note: string | null;
  /** The conflict, also if it was resolved; null: there is none. */
  readonly conflict: Conflict | null;
}

export interface Conflict {
  /** The reason for people: both changed the same lines; deleted here, changed there; … */
  readonly reason: string;
  /** Null: it does not exist. `ours` is the project's, `theirs` the agent's. */
  readonly base: Entry | null;
  readonly ours: Entry | null;
  readonly theirs: Entry | null;
  /** The sandbox that `ours` comes from, if several are merged; null: the project. */
  readonly with: string | null;
}

const shownPlaces = 3;

/** `34,367 ignored files in node_modules/, dist/ …`; the places are ready to be shown. `more`: not all were counted. */
export function ignoredText({ files, more }: { files: number; more: boolean }, places: readonly string[]): string {
  const shown = places.slice(0, shownPlaces).join(', ');
  const number = `${more ? 'more than ' : ''}${withCommas(files)}`;
  const count = `${number} ignored ${files === 1 && !more ? 'file' : 'files'}`;
  return `${count} in ${shown}${places.length > shownPlaces ? ' …' : ''}`;
}

/** Formats without Intl, which takes tens of milliseconds for its first number. */
function withCommas(number: number): string {
  return `${number}`.replace(/\B(?=(?:\d{3})+$)/g, ',');
}
