import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { readIfThere } from '../../lib/file.ts';
import type { Facts } from './probe-claim.ts';

const kinds = ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'user'];

export type GivenFacts = Pick<Facts, 'environment' | 'limits' | 'enforced' | 'home'>;

/** What the judges of claims have to know of the outside, where we are. */
export function readFacts(given: GivenFacts): Facts {
  return {
    ...given,
    namespaces: Object.fromEntries(kinds.map((kind) => [kind, readlinkSync(`/proc/self/ns/${kind}`)])),
    devices: { '/tmp': deviceOf('/tmp'), '/dev/shm': deviceOf('/dev/shm') },
    uidMap: readFileSync('/proc/self/uid_map', 'utf8'),
    passwd: readIfThere('/etc/passwd') ?? '',
    arch: process.arch,
  };
}

function deviceOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.dev ?? -1;
}
