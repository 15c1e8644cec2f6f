import type { GateKind } from './change.ts';

/** Kinds of changes that a user takes over into a project without being asked each time. */
export interface Allowance {
  readonly project: string;
  readonly kinds: readonly GateKind[];
}
