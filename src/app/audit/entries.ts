/** The entries of the audit log that a user may see. */
import type { Audit, Entry } from '../../audit/audit.ts';
import type { Actor } from '../../model/user.ts';
import type { Sent } from '../route.ts';

interface Query {
  readonly after?: number | undefined;
  readonly follow?: boolean | undefined;
}

export async function* entriesFor(
  audit: Pick<Audit, 'read'>,
  actor: Actor,
  { after = 0, follow = false }: Query,
  signal: AbortSignal,
): AsyncGenerator<Sent> {
  for await (const entry of audit.read({ after, follow, signal })) {
    if (maySee(actor, entry)) yield { id: String(entry.seq), data: JSON.stringify(entry) };
  }
}

/** Only the owner sees the acts of other users. */
function maySee({ name, isOwner }: Actor, { user }: Entry): boolean {
  return isOwner || user === name;
}
