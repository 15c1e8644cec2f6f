import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere } from '../../../../lib/file/file.ts';
import type { Handle } from '../../engine.ts';
import { readHandle } from '../handle.ts';
import { groupPath, quotaIn } from './cgroup.ts';
import type { ClaimFacts } from './claim.ts';

const kinds = ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'user'];

export type SandboxFacts = Pick<ClaimFacts, 'environment' | 'limits' | 'enforced' | 'home'>;

/** The facts that the claims need. */
export function readFacts(known: SandboxFacts, handle: Handle): ClaimFacts {
  return {
    ...known,
    namespaces: Object.fromEntries(kinds.map((kind) => [kind, readlinkSync(`/proc/self/ns/${kind}`)])),
    devices: { '/tmp': deviceOf('/tmp'), '/dev/shm': deviceOf('/dev/shm') },
    uidMap: readFileSync('/proc/self/uid_map', 'utf8'),
    passwd: readIfThere('/etc/passwd') ?? '',
    arch: process.arch,
    cpuQuota: readQuota(handle),
  };
}

/** The quota of the sandbox that the kernel reports on the host. */
function readQuota(handle: Handle): number | null {
  const groups = readIfThere(`/proc/${readHandle(handle)?.init.pid}/cgroup`) ?? '';
  const path = groupPath(groups, 'cpu');
  if (path === null) return null;
  const read = (...parts: string[]) => readIfThere(join('/sys/fs/cgroup', ...parts));
  const separate = `${read('cpu', path, 'cpu.cfs_quota_us') ?? ''} ${read('cpu', path, 'cpu.cfs_period_us') ?? ''}`;
  return quotaIn(read(path, 'cpu.max') ?? separate);
}

function deviceOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.dev ?? -1;
}
