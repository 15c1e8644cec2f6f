/** Reads the audit log. */

import { z } from 'zod';
import type { Audit, AuditEntry } from '../../../../kernel/audit/audit.ts';
import { declare, type SseEvent } from '../../../../kernel/server/route.ts';
import { rotation, rotationOf, section } from '../../../../kernel/settings/section.ts';
import { count, flag } from '../../../../lib/schema/query.ts';
import type { Actor } from '../../../../model/user.ts';

export interface AuditScope {
  readonly audit: Pick<Audit, 'read'>;
}

/** Section `audit` of config.yaml: how much of the audit log is kept. */
const auditConfig = [
  section('audit', {
    schema: rotation.optional().describe('The audit log.'),
    read: (content, at) => ({ audit: at('audit.size', () => rotationOf(content, 'audit')) }),
    atStart: { audit: 'audit' },
  }),
] as const;

const { noun, route } = declare<AuditScope>();

export const audit = noun({
  config: auditConfig,
  routes: [
    route('GET /v1/audit', {
      id: 'readAudit',
      summary: 'The audit log as server-sent events: all entries for the owner, for other users their own',
      query: z.strictObject({ after: count.optional(), follow: flag.optional() }),
      answer: 'sse',
      act: null,
      handle: async ({ actor, scope, query, signal }) => entriesFor(scope.audit, actor, query, signal),
    }),
  ],
});

interface Query {
  readonly after?: number | undefined;
  readonly follow?: boolean | undefined;
}

/** The entries that a user may see. */
async function* entriesFor(
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
