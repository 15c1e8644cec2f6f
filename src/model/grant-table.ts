/** What is derived from the kinds of grants in `noun-table.ts`. */
import type { FieldType, GrantKind } from './grant.ts';
import { grantKinds } from './noun-table.ts';

type Kinds = typeof grantKinds;
export type GrantField = keyof Kinds;
type PartsOf<F extends GrantField> =
  Kinds[F] extends GrantKind<infer R, infer G, infer K, infer S> ? { request: R; granted: G; key: K; shown: S } : never;

export type GrantRequest<F extends GrantField> = PartsOf<F>['request'];
/** In the spec of a sandbox. */
export type Granted = { readonly [F in GrantField]?: readonly PartsOf<F>['granted'][] };
/** In requests. */
export type AskedGrants = { [F in GrantField]?: GrantRequest<F>[] };
/** In views. */
export type GrantViews = {
  [F in GrantField as PartsOf<F>['shown'] extends never ? never : F]: Pick<
    PartsOf<F>['granted'],
    PartsOf<F>['shown']
  >[];
};
/** By the keys of carrel.yaml. */
export type DeclaredGrants = { readonly [F in GrantField as PartsOf<F>['key']]: readonly GrantRequest<F>[] };

interface AnyKind extends Omit<GrantKind<unknown, unknown, keyof DeclaredGrants>, 'request' | 'view'> {
  readonly request: Readonly<Record<string, FieldType | { readonly optional: FieldType }>>;
  readonly view?: Readonly<Record<string, FieldType>>;
}

export const grantTable = Object.entries(grantKinds) as unknown as readonly (readonly [GrantField, AnyKind])[];

/** Those that a carrel.yaml can declare. */
export const declarable = grantTable.flatMap(([field, { declared, ...kind }]) =>
  declared === null ? [] : [{ field, ...kind, ...declared }],
);

/** All kinds that views have, whether the spec has any or not. */
export function viewsOf(spec: Granted): GrantViews {
  const views = grantTable.flatMap(([field, { view }]) =>
    view ? [[field, (spec[field] ?? []).map((granted) => picked(granted, Object.keys(view)))]] : [],
  );
  return Object.fromEntries(views) as GrantViews;
}

/** All kinds that have metadata, whether the spec has any or not. */
export function metadataOf(spec: Granted): object {
  const shown = grantTable.flatMap(([field, { metadata }]) =>
    metadata ? [[field, (spec[field] ?? []).map((granted) => metadata(granted))]] : [],
  );
  return Object.fromEntries(shown);
}

function picked(from: object, names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, (from as Readonly<Record<string, unknown>>)[name]]));
}
