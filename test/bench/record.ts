/** Records of sandboxes as the daemon would write them, for measuring its parts without it. */
import { initialStatus, type Sandbox, type SandboxStatus } from '../../src/noun/sandbox/model.ts';
import { sampleSpec } from '../fixtures/sandbox.ts';

export function record(id: string, command: readonly string[], status: Partial<SandboxStatus> = {}): Sandbox {
  return {
    id,
    name: id,
    createdAt: new Date().toISOString(),
    spec: { ...sampleSpec, command },
    status: { ...initialStatus, ...status },
  };
}
