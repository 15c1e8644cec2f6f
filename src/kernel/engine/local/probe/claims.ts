/** All claims of SECURITY.md in its order, and how each is tried. */
import type { Claim } from './claim.ts';
import { devices, files, procMasked, procReadonly, tmp, usrReadonly } from './claim-files.ts';
import { cpu, memory, pids } from './claim-limit.ts';
import * as inside from './claim-process.ts';
import { syscalls, terminal } from './claim-syscall.ts';

export const claimIds = [
  'files',
  'usr-readonly',
  'processes',
  'ids',
  'capabilities',
  'no-new-privileges',
  'seccomp',
  'syscalls',
  'proc-masked',
  'proc-readonly',
  'devices',
  'network',
  'ipc',
  'cgroup',
  'memory',
  'cpu',
  'pids',
  'tmp',
  'inheritance',
  'terminal',
  'removal',
  'copy',
  'home',
] as const;

/** Tried in parallel. */
export const parallelClaims: readonly Claim[] = [
  files,
  usrReadonly,
  inside.processes,
  inside.ids,
  inside.capabilities,
  inside.noNewPrivileges,
  inside.seccomp,
  syscalls,
  procMasked,
  procReadonly,
  devices,
  inside.network,
  inside.ipc,
  inside.cgroup,
  tmp,
  inside.inheritance,
  terminal,
];

/** Tried one after another, since each exhausts a resource; after the last claim no process can be started inside. */
export const serialClaims: readonly Claim[] = [cpu, memory, pids];
