/** Section `audit` of config.yaml: how much of the audit log is kept. */
import { rotation, rotationOf, section } from '../../../../kernel/settings/section.ts';

export const auditConfig = [
  section('audit', {
    schema: rotation.optional().describe('The audit log.'),
    read: (content, at) => ({ audit: at('audit.size', () => rotationOf(content, 'audit')) }),
    atStart: { audit: 'audit' },
  }),
] as const;
