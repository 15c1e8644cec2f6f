/**
 * The audit log records which user did what to which sandbox, volume, secret or user: one line of JSON per act, never
 * changed later.
 *
 * Life cycle of an entry: `begin` notes the act in a file of unfinished ones before anything happens; `end` writes its line
 * before the request is answered. An act that a crash interrupted gets its line, `cut_short`, when the log is opened next.
 * Each act has exactly one line.
 *
 * Promises:
 * - A line that was written is there after `kill -9`; after a power cut the last second may be missing.
 * - Lines are plain ASCII without control characters: a name cannot end a line, forge another or control a terminal.
 * - A line has no value of a secret, no environment variable and no argument of a command, only the targets and few details.
 * - Space for some two hundred acts is kept, so that they are written on a full disk.
 * - An act that cannot be noted is refused (`exhausted`), unless it frees space: its line then waits in memory.
 * - A full file is rotated and the oldest removed. `seq` has no gaps except at the front.
 */
import type { FaultCode } from '../../model/fault.ts';

/** The process at the other end of the socket, as the kernel knew it when it connected. */
export interface Peer {
  readonly uid: number;
  readonly pid: number;
}

export interface AuditTarget {
  readonly name: string;
  readonly id?: string;
}

export type Detail = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export interface Act {
  /** The authenticated user; null: none. */
  readonly user: string | null;
  /** The user that the owner acted as. */
  readonly as: string | null;
  /** `noun.verb`, such as `sandbox.stop`. */
  readonly verb: string;
  readonly targets: readonly AuditTarget[];
  readonly peer: Peer | null;
}

export type ActOutcome = 'ok' | 'cut_short' | FaultCode;

export interface AuditEntry extends Act {
  readonly seq: number;
  readonly at: string;
  /** Unique among all acts. */
  readonly id: string;
  readonly outcome: ActOutcome;
  readonly detail?: Detail;
}

export interface OpenAct {
  /** Idempotent: only the first call counts. */
  end(outcome: ActOutcome, found?: { readonly targets?: readonly AuditTarget[]; readonly detail?: Detail }): void;
}

export interface AuditReadOptions {
  /** Entries of a greater `seq` only. */
  readonly after: number;
  readonly follow: boolean;
  readonly signal?: AbortSignal;
}

export interface Audit {
  begin(act: Act, frees?: boolean): OpenAct;
  read(options: AuditReadOptions): AsyncIterable<AuditEntry>;
  /** Every line so far is on disk when this returns; open acts may still end. */
  flush(): void;
}
