/**
 * A grant: what a sandbox gets besides its project and its network, such as a room or a scope of the memory.
 *
 * Each kind of grant is declared once, beside its values, and listed in `grant-table.ts` under the field that requests, specs and
 * views have. A request is what a user asks for, a granted value is what the spec records. Options of commands, keys of
 * carrel.yaml, audit log, mounts, variables and metadata inside, and MCP servers of agents follow from the declaration. `api/grant.ts` has the schemas,
 * and `daemon/scope-wiring.ts` turns requests into granted values.
 */
import type { Mount } from './mount.ts';

export interface GrantKind<Request, Granted, Key extends string = never> {
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
    readonly most: number;
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
  view?(granted: Granted): object;
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
  readonly readonly: boolean;
}

/** Once each; what is asked for twice is read-only only if both say so. */
export function distinctBy<R extends Readable>(requests: readonly R[], nameOf: (request: R) => string): R[] {
  const byName = new Map<string, R>();
  for (const one of requests) {
    const earlier = byName.get(nameOf(one));
    byName.set(nameOf(one), { ...one, readonly: one.readonly && (earlier?.readonly ?? true) });
  }
  return [...byName.values()];
}
