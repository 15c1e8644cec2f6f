/**
 * How a noun is declared: its routes, what the daemon does for it at the start, and its rows of the doctor.
 *
 * A route is one value: method and path, the schemas of query, body and answer, what the audit log records of it, and its
 * handler. The server validates, authenticates, writes the audit log and answers; a handler gets checked values and
 * returns its answer. `act` is null if nothing is changed, and must be given, so that no change is left out of the log.
 *
 * A handler names what it needs by the type of its scope: a noun declares an interface, `noun/app.ts` joins these, and the compiler
 * checks that the wiring provides all of them. A scope belongs to one user.
 */
import type { z } from 'zod';
import type { PathNames, RouteText } from '../../lib/wire/api.ts';
import type { EncodedJson } from '../../lib/wire/encoded-json.ts';
import type { FramedConnection } from '../../lib/wire/framed-connection.ts';
import { asFault } from '../../model/fault.ts';
import type { Actor } from '../../model/user.ts';
import type { AuditTarget, Detail, OpenAct } from '../audit/audit.ts';
import type { ProbeRow } from '../engine/engine.ts';
import type { ConfigSection } from '../settings/section.ts';

/** What a route answers with: JSON of this shape, or a stream. */
export type AnswerShape = z.ZodType | 'frames' | 'sse' | 'upgrade' | 'document';

/** What the audit log records of a request. Only this gets into the log: never a value, a variable or an argument. */
export interface RouteAct {
  readonly verb: string;
  /** Names of the things that the act changes. */
  readonly names: readonly string[];
  /** The names are those of sandboxes. The log adds their ids, because another sandbox can get the same name later. */
  readonly ofSandboxes?: boolean;
  /** Texts that are stored unchanged, by their names in a refusal: none may contain the value of a secret. */
  readonly words?: Readonly<Record<string, readonly (string | undefined)[]>>;
  /** Logged only if the act was done. */
  readonly detail?: Detail;
  /** The user for whom the act is done, if the request names one. */
  readonly as?: string | undefined;
  /** The act frees space, so it is accepted even if the log cannot be written. */
  readonly frees?: boolean;
}

/** What is known of an act only from the answer. */
export interface Done {
  /** Instead of `names`. */
  readonly targets?: readonly AuditTarget[];
  readonly detail?: Detail;
}

/** The parts of a request, after they were checked. */
export interface RouteRequest<Q, B, N extends string = never> {
  /** The `{name}` of the path; empty if the path has none. */
  readonly name: string;
  /** Everything that is in braces in the path. */
  readonly path: Readonly<Record<N, string>>;
  readonly query: Q;
  readonly body: B;
}

export interface Request<S, Q, B, N extends string = never> extends RouteRequest<Q, B, N> {
  readonly actor: Actor;
  readonly scope: S;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** The Last-Event-ID of a client that connects again. */
  readonly lastEventId: string | undefined;
}

/** A request to switch the connection to frames. */
export interface UpgradeRequest<S, Q = unknown> extends Request<S, Q, unknown> {
  accept(): FramedConnection;
  /** The handler ends the act, which is done before the stream ends. */
  readonly openAct: OpenAct;
}

/** Writes frames while the client reads them; `write` rejects when it has gone. A last frame is sent after the act is in the log. */
export type Frames = (write: (frame: Buffer) => Promise<void>) => Promise<Buffer | undefined>;

/** One server-sent event. */
export interface SseEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
}

/** An answer in which lists may be JSON already. */
type PartlyEncoded<T> = { readonly [P in keyof T]: T[P] extends readonly object[] ? T[P] | EncodedJson : T[P] };

interface Streams {
  readonly frames: Frames;
  readonly sse: AsyncIterable<SseEvent>;
  readonly upgrade: unknown;
  readonly document: object;
}
type Answered<A> = A extends z.ZodType
  ? z.output<A> | PartlyEncoded<z.output<A>> | EncodedJson
  : A extends keyof Streams
    ? Streams[A]
    : never;

type Output<T> = [T] extends [never] ? undefined : T extends z.ZodType ? z.output<T> : never;

/** A route as the server sees it. */
export interface Route {
  readonly key: RouteText;
  /** The operationId of the OpenAPI document. */
  readonly id: string;
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly answer: AnswerShape;
  /** The status if the answer only says that something has begun; default 200. */
  readonly status?: 202;
  /** Every client that can connect may send this request. */
  readonly open?: boolean;
  /** The request depends on settings: config.yaml is read again first, and a mistake in it refuses the request. */
  readonly usesSettings?: boolean;
  readonly act: null | ((request: never) => RouteAct | null);
  readonly done?: (answer: never) => Done;
  readonly handle: (request: never) => Promise<unknown>;
}

interface Declaration<S, Q, B, A, N extends string> extends Omit<Route, 'key' | 'query' | 'body' | 'answer'> {
  readonly query?: Q;
  readonly body?: B;
  readonly answer: A;
  readonly act: null | ((request: RouteRequest<Output<Q>, Output<B>, N>) => RouteAct | null);
  readonly done?: (answer: Output<A>) => Done;
  readonly handle: (
    request: A extends 'upgrade' ? UpgradeRequest<S, Output<Q>> : Request<S, Output<Q>, Output<B>, N>,
  ) => Promise<Answered<A>>;
}

/** A route as the types of clients see it. */
export interface DeclaredRoute<K extends RouteText, Q, B, A extends AnswerShape> extends Route {
  readonly key: K;
  readonly answer: A;
  readonly shapes?: { readonly query: Q; readonly body: B };
}

export interface Noun<
  S,
  R extends readonly Route[] = readonly Route[],
  C extends readonly ConfigSection[] = readonly ConfigSection[],
> {
  readonly routes: R;
  /** The sections of config.yaml that belong to the noun. */
  readonly config?: C;
  /**
   * Called with the scope of the owner before the daemon answers requests: finishes or removes what an earlier daemon
   * left.
   */
  recover?(scope: S): Promise<void>;
  /** Called with the scope of the owner once the daemon answers requests: begins work in the background, for all users. */
  start?(scope: S, observed: Promise<unknown>): void;
  /** Rows of `carrel doctor`. */
  examine?(scope: S): Promise<readonly ProbeRow[]>;
}

/** `noun` and `route` for handlers with this scope. */
export function declare<S>() {
  return {
    noun: <const R extends readonly Route[], const C extends readonly ConfigSection[] = readonly []>(
      noun: Noun<S, R, C>,
    ): Noun<S, R, C> => noun,
    route: <
      const K extends RouteText,
      A extends AnswerShape,
      Q extends z.ZodObject = never,
      B extends z.ZodType = never,
    >(
      key: K,
      declaration: Declaration<S, Q, B, A, PathNames<K>>,
    ): DeclaredRoute<K, Q, B, A> => ({ key, ...declaration }) as DeclaredRoute<K, Q, B, A>,
  };
}

/** The act of a route whose path names a thing. */
export function named(verb: string, frees = false): (request: { readonly name: string }) => RouteAct {
  return ({ name }) => ({ verb, names: [name], frees });
}

export function namedSandbox(verb: string): (request: { readonly name: string }) => RouteAct {
  return ({ name }) => ({ verb, names: [name], ofSandboxes: true });
}

/** Leaves out what the request does not name. */
export function definedDetail(all: Readonly<Record<string, Detail[string] | null | undefined>>): Detail {
  const defined = Object.entries(all).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(defined) as Detail;
}

/** An invalid name may be any text that was typed by mistake, even the value of a secret, so it is not logged. */
export function endWith(openAct: OpenAct, error: unknown): void {
  const { code } = asFault(error);
  openAct.end(code, code === 'invalid' ? { targets: [] } : {});
}
