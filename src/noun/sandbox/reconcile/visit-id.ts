import { createHash } from 'node:crypto';

/**
 * The id of a visit: a valid id, so that engines list it, and derived from the sandbox's id, so that it is known after
 * a crash.
 */
export function visitId(id: string): string {
  return createHash('sha256').update(`visit ${id}`).digest('hex').slice(0, 16);
}
