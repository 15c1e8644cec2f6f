/**
 * A grant: what a sandbox gets besides its project and its network, such as a room or a scope of the memory.
 *
 * Each kind of grant is declared once, beside its values, and listed in `noun/table.ts` under the field that requests, specs and
 * views have. A request is what a user asks for, a granted value is what the spec records. Options of commands, schemas of
 * requests and views, keys of carrel.yaml, audit log, mounts, variables and metadata inside, and MCP servers of agents follow from
 * the declaration. `kernel/daemon/noun-wiring.ts` turns requests into granted values.
 */
import type { Mount } from './mount.ts';

/**
 * The type of a field of a request or a view. It is data, because the command line loads the model and must not load
 * zod.
 */
export type FieldType =
  | 'boolean'
  | 'text'
  /** Absolute. */
  | 'path'
  | { readonly pattern: RegExp; readonly rule?: string }
  | { readonly oneOf: readonly string[] };

type RequestField<T> = undefined extends T ? { readonly optional: FieldType } : FieldType;

/** `Shown`: the fields of a granted value that views have. */
export interface GrantKind<Request, Granted, Key extends string = never, Shown extends keyof Granted = never> {
  readonly request: { readonly [F in keyof Required<Request>]: RequestField<Request[F]> };
  /** The most grants of this kind in one request. */
  readonly most: number;
  /** The option of commands, which may be repeated. */
  readonly option: {
    readonly flags: string;
    readonly summary: string;
    readonly completes?: string;
    /** True: commands that create sandboxes for agents have the option too, not only `run` and `create`. */
    readonly isForAgents: boolean;
  };
  /** A list of texts in a sandbox of a carrel.yaml; null: it cannot be declared. */
  readonly declared: {
    readonly key: Key;
    /** The word before each text in the question for trust. */
    readonly word: string;
    readonly maxText: number;
    readonly description: string;
    readonly example: readonly string[];
    /** The texts of the grants. When they change, the sandbox is replaced. */
    texts(requests: readonly Request[]): string[];
  } | null;
  parse(text: string): Request;
  /** Removes repeated requests. Left out: all requests count. */
  distinct?(requests: readonly Request[]): Request[];
  /** The name of the grant in the audit log. */
  nameOf(request: Request): string;
  /** The fields in the API. Left out: not shown. */
  readonly view?: { readonly [F in Shown]: FieldType };
  /** The metadata inside. Left out: not shown. */
  metadata?(granted: Granted): unknown;
  /** The mounts inside for the grant. Left out: none. */
  mounts?(granted: Granted, at: MountPlaces): readonly Mount[];
  /** Variables inside, if the sandbox has at least one such grant. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * A program of the build that speaks MCP inside. `comesWith` left out: agents get it with each grant.
   */
  readonly server?: {
    readonly name: string;
    readonly program: string;
    readonly args: readonly string[];
    comesWith?(granted: Granted): boolean;
  };
}

/** The inputs of `mounts` besides the grant. */
export interface MountPlaces {
  readonly sandboxName: string;
  /** A folder of the host that is always empty. */
  readonly emptyFolder: string;
  volume(name: string): string;
}

interface Readable {
  readonly readonly?: boolean | undefined;
}

/** Removes repetitions. A repeated grant is read-only only if all requests say so. */
export function distinctBy<R extends Readable>(requests: readonly R[], nameOf: (request: R) => string): R[] {
  const byName = new Map<string, R>();
  for (const one of requests) {
    const earlier = byName.get(nameOf(one));
    byName.set(nameOf(one), { ...one, readonly: (one.readonly ?? false) && (earlier?.readonly ?? true) });
  }
  return [...byName.values()];
}
