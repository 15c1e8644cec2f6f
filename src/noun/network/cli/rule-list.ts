/** The current rules of a sandbox, one a line. */

import type { Context } from '../../../client/cli.ts';
import { plain } from '../../../client/output/text.ts';
import type { NetworkView } from '../api.ts';

export function tellRules({ json, out }: Context, name: string, network: NetworkView): void {
  if (json) out.document(network);
  else if (network.allow.length === 0) out.note(`${name} has no rules now, so it may connect to no host`);
  else out.print(...network.allow.map(plain));
}
