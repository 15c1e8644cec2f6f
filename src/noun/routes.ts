/** The types of all routes, from their declarations in the daemon; this file has no code at run time. */

import type { z } from 'zod';
import type { PathNames } from '../lib/wire/api.ts';
import type { Declared } from './app.ts';

export type RouteKey = Declared['key'];
type Find<K extends RouteKey> = Extract<Declared, { readonly key: K }>;
type Shape<K extends RouteKey, P extends 'query' | 'body'> = NonNullable<Find<K>['shapes']>[P];

/** Routes that answer in this way. */
export type Answering<A> = Extract<Declared, { readonly answer: A }>['key'];

/** What a client sends, before defaults and transforms. */
export type BodyOf<K extends RouteKey> = [Shape<K, 'body'>] extends [never] ? undefined : z.input<Shape<K, 'body'>>;
export type QueryOf<K extends RouteKey> = [Shape<K, 'query'>] extends [never]
  ? Record<string, never>
  : z.output<Shape<K, 'query'>>;
export type AnswerOf<K extends RouteKey> = Find<K>['answer'] extends infer A extends z.ZodType ? z.output<A> : unknown;

/** The values for the names in braces in the path of a route. */
export type PathOf<K extends RouteKey> = K extends unknown ? { readonly [N in PathNames<K>]: string } : never;

export interface Input<K extends RouteKey> {
  readonly path?: PathOf<K>;
  readonly query?: QueryOf<K>;
  readonly body?: BodyOf<K>;
  readonly signal?: AbortSignal;
}
