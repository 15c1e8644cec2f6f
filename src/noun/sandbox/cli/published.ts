import { hostPortText } from '../../../client/output/host-port.ts';
import type { Output } from '../../../client/output/output.ts';
import type { SandboxView } from '../api.ts';

/** Prints where the ports of a new sandbox listen: the daemon chooses host ports that the user did not name. */
export function printPorts(out: Output, { network }: Pick<SandboxView, 'network'>): void {
  for (const port of network.ports) out.say(`port ${port.port} is at ${hostPortText(port)}`);
}
