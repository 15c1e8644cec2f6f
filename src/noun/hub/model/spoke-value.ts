/** Pieces of what spokes answer. */
import { flag, list, type Shape, type Shaped, text, whole } from '../../../model/shape.ts';

/** Each method, with its request and its answer. */
export type MethodsOf<A, R extends { readonly [M in keyof A]: Shape<unknown> }> = {
  readonly [M in keyof A]: [A[M], Shaped<R[M]>];
};

export type Nothing = Readonly<Record<string, never>>;

export const count = whole(0, Number.MAX_SAFE_INTEGER);
export const texts = list(text(), Number.POSITIVE_INFINITY);

/** `more`: there is more after the last item. */
export function pageFields<T>(item: Shape<T>) {
  return { items: list(item, Number.POSITIVE_INFINITY), more: flag };
}
