/** All kinds of grants, by the field of requests, specs and views. */
import type { GrantKind } from './grant.ts';
import { memoryGrantKind } from './memory.ts';
import { roomGrantKind } from './room-grant.ts';
import { shareGrantKind } from './share.ts';
import { volumeGrantKind } from './volume.ts';

const grantKinds = {
  volumes: volumeGrantKind,
  shares: shareGrantKind,
  rooms: roomGrantKind,
  memoryScopes: memoryGrantKind,
};

type Kinds = typeof grantKinds;
export type GrantField = keyof Kinds;
type RequestOf<F extends GrantField> = Kinds[F] extends GrantKind<infer R, infer _, infer __> ? R : never;
type GrantedOf<F extends GrantField> = Kinds[F] extends GrantKind<infer _, infer G, infer __> ? G : never;
type KeyOf<F extends GrantField> = Kinds[F] extends GrantKind<infer _, infer __, infer K> ? K : never;

/** In the spec of a sandbox. */
export type Granted = { readonly [F in GrantField]?: readonly GrantedOf<F>[] };
/** In requests. */
export type AskedGrants = { [F in GrantField]?: RequestOf<F>[] };
/** By the keys of carrel.yaml. */
export type DeclaredGrants = { readonly [F in GrantField as KeyOf<F>]: readonly RequestOf<F>[] };

export const grantTable = Object.entries(grantKinds) as readonly (readonly [
  GrantField,
  GrantKind<unknown, unknown, keyof DeclaredGrants>,
])[];

/** Those that a carrel.yaml can declare. */
export const declarable = grantTable.flatMap(([field, { declared, ...kind }]) =>
  declared === null ? [] : [{ field, ...kind, ...declared }],
);

/** All that have such a form, whether the spec has any or not. */
export function shownGrants(spec: Granted, form: 'view' | 'metadata'): object {
  const shown = grantTable.flatMap(([field, kind]) =>
    kind[form] ? [[field, (spec[field] ?? []).map(kind[form])]] : [],
  );
  return Object.fromEntries(shown);
}
