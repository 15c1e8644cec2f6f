/** The network of a sandbox, and the certificates that it trusts for the hosts of its credentials. */
import type { SandboxPart } from '../../sandbox/part/part.ts';
import type { CredentialSupply } from './credential/supply.ts';
import type { Networks } from './networks.ts';

export function networkPart(
  networks: Pick<Networks, 'connect' | 'disconnect'>,
  supply: Pick<CredentialSupply, 'provideTrust'>,
): SandboxPart {
  return {
    prepare: (sandbox) => supply.provideTrust(sandbox),
    connect: (sandbox, init) => networks.connect(sandbox, init),
    conclude: ({ id }) => networks.disconnect(id),
    release: ({ id }) => networks.disconnect(id),
  };
}
