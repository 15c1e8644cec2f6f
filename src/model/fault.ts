/**
 * The one error of Carrel. A code says what the caller should do about it; the message names what and where;
 * the hint says what to do. Foreign errors become a Fault in the file that calls the foreign thing.
 */
export type FaultCode =
  | 'invalid'
  | 'unauthenticated'
  | 'denied'
  | 'not_found'
  | 'conflict'
  | 'not_ready'
  | 'exhausted'
  | 'unsupported'
  | 'unavailable'
  | 'timeout'
  | 'cancelled'
  | 'corrupt'
  | 'internal';

interface FaultEntry {
  readonly http: number;
  readonly exit: number;
  readonly retry: boolean;
}

export const faultTable: { readonly [code in FaultCode]: FaultEntry } = {
  invalid: { http: 400, exit: 2, retry: false },
  unauthenticated: { http: 401, exit: 4, retry: false },
  denied: { http: 403, exit: 4, retry: false },
  not_found: { http: 404, exit: 5, retry: false },
  conflict: { http: 409, exit: 6, retry: false },
  not_ready: { http: 409, exit: 6, retry: false },
  exhausted: { http: 507, exit: 7, retry: false },
  unsupported: { http: 501, exit: 3, retry: false },
  unavailable: { http: 503, exit: 75, retry: true },
  timeout: { http: 504, exit: 75, retry: true },
  cancelled: { http: 499, exit: 130, retry: false },
  corrupt: { http: 500, exit: 70, retry: false },
  internal: { http: 500, exit: 70, retry: false },
};

export interface FaultDetails {
  readonly cause?: unknown;
  readonly hint?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A Fault as the API sends it, without its cause. */
export interface FaultBody {
  readonly code: FaultCode;
  readonly message: string;
  readonly hint?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

export class Fault extends Error {
  override readonly name = 'Fault';
  readonly code: FaultCode;
  readonly hint: string | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: FaultCode, message: string, details: FaultDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
    this.data = details.data;
  }

  toJSON(): FaultBody {
    return {
      code: this.code,
      message: this.message,
      ...(this.hint === undefined ? {} : { hint: this.hint }),
      ...(this.data === undefined ? {} : { data: this.data }),
    };
  }

  static from(body: FaultBody): Fault {
    const { hint, data } = body;
    const code = body.code in faultTable ? body.code : 'internal';
    return new Fault(code, body.message, { ...(hint ? { hint } : {}), ...(data ? { data } : {}) });
  }
}

export function isFault(error: unknown, code?: FaultCode): error is Fault {
  return error instanceof Fault && (code === undefined || error.code === code);
}

/** The hint for a full disk. */
export const spaceHint =
  'Free some disk space: carrel ls --size tells what sandboxes take, and carrel rm --force NAME works on a full disk.';

/** Anything thrown, as a Fault; an unknown error is `internal`. */
export function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new Fault('exhausted', message, { cause: error, hint: spaceHint });
  }
  if (code === 'EMFILE' || code === 'ENFILE') {
    return new Fault('exhausted', message, { cause: error, hint: 'Raise the limit on open files (ulimit -n).' });
  }
  return new Fault('internal', message, { cause: error });
}
