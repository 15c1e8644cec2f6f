/**
 * A grant: what a sandbox gets besides its project and its network, such as a room or a scope of the memory.
 *
 * Each kind of grant is declared once, beside its values, and listed in `noun-table.ts` under the field that requests, specs and
 * views have. A request is what a user asks for, a granted value is what the spec records. Options of commands, schemas of
 * requests and views, keys of carrel.yaml, audit log, mounts, variables and metadata inside, and MCP servers of agents follow from
 * the declaration. `daemon/noun-wiring.ts` turns requests into granted values.
 */
import type { Mount } from './mount.ts';

/** What a field of a request or a view may be. As data: the command line loads the model, and must not load zod. */
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
  /** In one request. */
  readonly most: number;
  /** It may be repeated. */
  readonly option: {
    readonly flags: string;
    readonly summary: string;
    readonly completes?: string;
    /** Of commands that create sandboxes for agents, too, not of `run` and `create` alone. */
    readonly isForAgents: boolean;
  };
  /** A list of texts in a sandbox of a carrel.yaml; null: it cannot be declared. */
  readonly declared: {
    readonly key: Key;
    /** Before each text where the user is asked for trust. */
    readonly word: string;
    readonly maxText: number;
    readonly description: string;
    readonly example: readonly string[];
    /** When these change, sandboxes are replaced. */
    texts(requests: readonly Request[]): string[];
  } | null;
  parse(text: string): Request;
  /** Left out: all requests count. */
  distinct?(requests: readonly Request[]): Request[];
  /** In the audit log. */
  nameOf(request: Request): string;
  /** In the API. Left out: not shown. */
  readonly view?: { readonly [F in Shown]: FieldType };
  /** Inside. Left out: not shown. */
  metadata?(granted: Granted): unknown;
  /** What appears inside for it. Left out: nothing. */
  mounts?(granted: Granted, at: MountPlaces): readonly Mount[];
  /** Variables inside, with one or more of them. */
  readonly env?: Readonly<Record<string, string>>;
  /** A program inside that speaks MCP, and its file in the build. `comesWith` left out: agents get it with each. */
  readonly server?: {
    readonly name: string;
    readonly program: string;
    readonly file: string;
    readonly args: readonly string[];
    comesWith?(granted: Granted): boolean;
  };
}

/** What the mounts of a grant are made of, besides the grant. */
export interface MountPlaces {
  readonly sandboxName: string;
  /** Of the host. Nothing is ever in it. */
  readonly emptyFolder: string;
  volume(name: string): string;
}

interface Readable {
  readonly readonly?: boolean | undefined;
}

/** Once each; what is asked for twice is read-only only if both say so. */
export function distinctBy<R extends Readable>(requests: readonly R[], nameOf: (request: R) => string): R[] {
  const byName = new Map<string, R>();
  for (const one of requests) {
    const earlier = byName.get(nameOf(one));
    byName.set(nameOf(one), { ...one, readonly: (one.readonly ?? false) && (earlier?.readonly ?? true) });
  }
  return [...byName.values()];
}
