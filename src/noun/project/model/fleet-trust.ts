/**
 * The grants of a `carrel.yaml` that a user trusts: the lines that give sandboxes more than their defaults. A file
 * whose grants are all trusted is used without a question; any other grant is refused until it is trusted too.
 */
import { createHash } from 'node:crypto';

export interface Trust {
  /** The file, by its real path. */
  readonly file: string;
  /** The grants as `noun/project/fleet/grants.ts` writes them. */
  readonly grants: readonly string[];
  readonly trustedAt: string;
}

/** The name of the record: a hash, because paths are longer than names can be. */
export function trustName(file: string): string {
  return createHash('sha256').update(file).digest('hex').slice(0, 32);
}
