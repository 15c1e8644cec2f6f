import type { SandboxView } from '../../api/sandbox.ts';
import { hostPortText } from '../output/host-port.ts';
import type { Output } from '../output/output.ts';

/** Where the ports of a new sandbox listen: the daemon chose those that were not named. */
export function tellPorts(out: Output, { network }: Pick<SandboxView, 'network'>): void {
  for (const port of network.ports) out.say(`port ${port.port} is at ${hostPortText(port)}`);
}
