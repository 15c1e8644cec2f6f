/** The current rules of a sandbox, one a line. */
import type { NetworkView } from '../../api/network.ts';
import type { Context } from '../cli.ts';
import { plain } from '../output/text.ts';

export function tellRules({ json, out }: Context, name: string, network: NetworkView): void {
  if (json) out.document(network);
  else if (network.allow.length === 0) out.note(`${name} has no rules now, so it may connect to no host`);
  else out.print(...network.allow.map(plain));
}
