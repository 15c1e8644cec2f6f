/** The first process of a container, by its pid on this machine. */
import type { ContainerInspectInfo } from 'dockerode';
import { readIfThere } from '../../../lib/file/file.ts';
import { type ProcessRef, processRef } from '../../../lib/process/process.ts';
import { Fault } from '../../../model/fault.ts';

type Container = Pick<ContainerInspectInfo, 'Id' | 'State'>;

/**
 * The Docker Engine reports the pid that it sees. An engine in a virtual machine or another pid namespace sees other
 * pids, so the process must be in the container's control group. Null: it is not visible from here.
 */
export function visibleProcess({ Id, State }: Container): ProcessRef | null {
  const found = State.Pid > 0 ? processRef(State.Pid) : null;
  return readIfThere(`/proc/${State.Pid}/cgroup`)?.includes(Id) ? found : null;
}

export function hostProcess(container: Container): ProcessRef {
  const found = visibleProcess(container);
  if (found) return found;
  throw new Fault('unsupported', 'the processes of this Docker Engine are not visible from here', {
    hint: 'A sandbox gets a network only from an engine on the same machine; or use --engine local.',
  });
}
