import type { GateKind } from './change.ts';

/** Gates that a user has allowed for a project permanently. */
export interface Allowance {
  readonly project: string;
  readonly kinds: readonly GateKind[];
}
