/** The first process of a container, by its pid on this machine. */
import type { ContainerInspectInfo } from 'dockerode';
import { readIfThere } from '../../lib/file.ts';
import { type ProcessRef, processRef } from '../../lib/process.ts';
import { Fault } from '../../model/fault.ts';

/**
 * The Docker Engine reports the pid that it sees. An engine in a virtual machine or another pid namespace sees other
 * pids, so the process must be in the container's control group.
 */
export function hostProcess({ Id, State }: Pick<ContainerInspectInfo, 'Id' | 'State'>): ProcessRef {
  const found = State.Pid > 0 ? processRef(State.Pid) : null;
  if (found && readIfThere(`/proc/${State.Pid}/cgroup`)?.includes(Id)) return found;
  throw new Fault('unsupported', 'the processes of this Docker Engine are not visible from here', {
    hint: 'A sandbox gets a network only from an engine on the same machine; or use --engine local.',
  });
}
