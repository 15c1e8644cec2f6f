/** Ports of this machine that lead to sandboxes: which of them a user may use, and which are used already. */

import type { Store } from '../../../kernel/store/store.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import { parseHost } from '../../../model/host.ts';
import type { Actor } from '../../../model/user.ts';
import type { PortRequest } from '../api.ts';
import { addressClass } from '../model/address.ts';
import { noNetwork, type PortForward } from '../model/network.ts';
import { freePort } from './free-port.ts';

export const loopback = '127.0.0.1';
/** How often another port is chosen for a request that names none. */
const anyPortTries = 5;
/** Only root can listen on ports below this one. */
const firstOpenPort = 1024;

export class HostPorts {
  readonly #actor: Actor;
  readonly #store: Pick<Store, 'list'>;

  constructor(actor: Actor, store: Pick<Store, 'list'>) {
    this.#actor = actor;
    this.#store = store;
  }

  /** Chooses ports for a sandbox that does not exist yet. */
  async choose(requests: readonly PortRequest[]): Promise<PortForward[]> {
    const chosen: PortForward[] = [];
    for (const one of requests) {
      const forward = await this.use(one, async (found) => {
        if (chosen.some((other) => isSame(other, found)))
          throw new Fault('conflict', `${found.hostAddress}:${found.hostPort} is named twice`);
        return found;
      });
      chosen.push(forward);
    }
    return chosen;
  }

  /** Calls `take` with the requested port, or with free ones until it throws no conflict. */
  async use(
    { port, hostPort, hostAddress: text = loopback }: PortRequest,
    take: (forward: PortForward) => Promise<PortForward>,
  ): Promise<PortForward> {
    const hostAddress = this.#address(text);
    const tryPort = async (chosen: number) => take(this.#checked({ port, hostPort: chosen, hostAddress }));
    if (hostPort !== undefined) return tryPort(hostPort);
    for (let wanted = port, triesLeft = anyPortTries; ; wanted = 0, triesLeft -= 1) {
      try {
        return await tryPort(await freePort(hostAddress, wanted));
      } catch (error) {
        // Another process took it meanwhile, or it is kept for a sandbox that is stopped.
        if (triesLeft === 0 || !isFault(error, 'conflict')) throw error;
      }
    }
  }

  #checked(forward: PortForward): PortForward {
    if (forward.hostPort < firstOpenPort && !this.#actor.isOwner)
      throw new Fault('denied', `only the owner of this installation may listen on port ${forward.hostPort}`, {
        hint: `Name a port from ${firstOpenPort} on.`,
      });
    const holder = this.#store
      .list('sandbox')
      .find(({ value }) => (value.spec.network ?? noNetwork).ports.some((one) => isSame(one, forward)));
    if (!holder) return forward;
    const whose = holder.owner === this.#actor.name ? holder.name : 'a sandbox of another user';
    throw new Fault('conflict', `${forward.hostAddress}:${forward.hostPort} is forwarded to ${whose} already`, {
      hint: 'Name another port of this machine; see: carrel port ls',
    });
  }

  #address(text: string): string {
    const host = parseHost(text);
    if (host.kind !== 'address')
      throw new Fault('invalid', `${host.text} is not an IP address`, { hint: `Such as ${loopback}.` });
    if (!this.#actor.isOwner && addressClass(host.text, host.family) !== 'loopback') {
      throw new Fault('denied', 'only the owner of this installation may open ports to other machines', {
        hint: `Leave out the address, which is then ${loopback}.`,
      });
    }
    return host.text;
  }
}

function isSame(one: PortForward, other: PortForward): boolean {
  return one.hostPort === other.hostPort && one.hostAddress === other.hostAddress;
}
