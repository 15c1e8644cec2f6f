/** Reads the audit log. */
import { z } from 'zod';
import type { Audit } from '../../../../kernel/audit/audit.ts';
import { declare } from '../../../../kernel/server/route.ts';
import { count, flag } from '../../../../lib/schema/query.ts';
import { auditConfig } from './config.ts';
import { entriesFor } from './entries.ts';

export interface AuditScope {
  readonly audit: Pick<Audit, 'read'>;
}

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
