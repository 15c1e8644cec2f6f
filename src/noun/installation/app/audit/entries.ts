/** The entries of the audit log that a user may see. */
import type { Audit, AuditEntry } from '../../../../kernel/audit/audit.ts';
import type { SseEvent } from '../../../../kernel/server/route.ts';
import type { Actor } from '../../../../model/user.ts';

interface Query {
  readonly after?: number | undefined;
  readonly follow?: boolean | undefined;
}

export async function* entriesFor(
  audit: Pick<Audit, 'read'>,
  actor: Actor,
  { after = 0, follow = false }: Query,
  signal: AbortSignal,
): AsyncGenerator<SseEvent> {
  for await (const entry of audit.read({ after, follow, signal })) {
    if (maySee(actor, entry)) yield { id: String(entry.seq), data: JSON.stringify(entry) };
  }
}

/** Only the owner sees the acts of other users. */
function maySee({ name, isOwner }: Actor, { user }: AuditEntry): boolean {
  return isOwner || user === name;
}
