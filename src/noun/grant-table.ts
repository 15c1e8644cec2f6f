/** Types and functions that are derived from the kinds of grants in `table.ts`. */
import type { FieldType, GrantKind } from '../model/grant.ts';
import { grantKinds } from './table.ts';

type Kinds = typeof grantKinds;
export type GrantField = keyof Kinds;
type PartsOf<F extends GrantField> =
  Kinds[F] extends GrantKind<infer R, infer G, infer K, infer S> ? { request: R; granted: G; key: K; shown: S } : never;

export type GrantRequest<F extends GrantField> = PartsOf<F>['request'];
/** The grants in the spec of a sandbox. */
export type Granted = { readonly [F in GrantField]?: readonly PartsOf<F>['granted'][] };
/** The grants in a request. */
export type RequestedGrants = { [F in GrantField]?: GrantRequest<F>[] };
/** The grants in a view. */
export type GrantViews = {
  [F in GrantField as PartsOf<F>['shown'] extends never ? never : F]: Pick<
    PartsOf<F>['granted'],
    PartsOf<F>['shown']
  >[];
};
/** The grants of a sandbox in carrel.yaml, by their keys. */
export type DeclaredGrants = { readonly [F in GrantField as PartsOf<F>['key']]: readonly GrantRequest<F>[] };

interface AnyKind extends Omit<GrantKind<unknown, unknown, keyof DeclaredGrants>, 'request' | 'view'> {
  readonly request: Readonly<Record<string, FieldType | { readonly optional: FieldType }>>;
  readonly view?: Readonly<Record<string, FieldType>>;
}

export const grantTable = Object.entries(grantKinds) as unknown as readonly (readonly [GrantField, AnyKind])[];

/** The kinds of grants that a carrel.yaml can declare. */
export const declarable = grantTable.flatMap(([field, { declared, ...kind }]) =>
  declared === null ? [] : [{ field, ...kind, ...declared }],
);

/** The grants for a view: a list for each kind that views have, even if the spec has none of that kind. */
export function viewsOf(spec: Granted): GrantViews {
  const views = grantTable.flatMap(([field, { view }]) =>
    view ? [[field, (spec[field] ?? []).map((granted) => picked(granted, Object.keys(view)))]] : [],
  );
  return Object.fromEntries(views) as GrantViews;
}

/** The metadata of the grants: a list for each kind that has metadata, even if the spec has none of that kind. */
export function metadataOf(spec: Granted): object {
  const shown = grantTable.flatMap(([field, { metadata }]) =>
    metadata ? [[field, (spec[field] ?? []).map((granted) => metadata(granted))]] : [],
  );
  return Object.fromEntries(shown);
}

function picked(from: object, names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, (from as Readonly<Record<string, unknown>>)[name]]));
}
