/** Records of sandboxes as the daemon would write them, for measuring its parts without it. */
import { defaultLimits } from '../../src/model/limits.ts';
import { initialStatus, type Sandbox, type SandboxStatus } from '../../src/model/sandbox.ts';

export function record(id: string, command: readonly string[], status: Partial<SandboxStatus> = {}): Sandbox {
  return {
    id,
    name: id,
    createdAt: new Date().toISOString(),
    spec: {
      user: 'bench',
      engine: 'local',
      runtime: null,
      project: null,
      mode: 'none',
      command,
      env: {},
      limits: defaultLimits,
      demanded: [],
      rootfs: null,
      labels: {},
      stdin: false,
      autoRemove: false,
      desired: 'running',
      graceMs: 0,
      attempt: 1,
    },
    status: { ...initialStatus, ...status },
  };
}
