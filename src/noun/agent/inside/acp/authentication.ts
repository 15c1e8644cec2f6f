/** Authentication of the client to agents that require it. */

import type { AcpSpec } from '../../model/agent.ts';
import { AdapterError } from '../adapter-error.ts';

/** The error code with which an agent requires authentication. */
export const authRequired = -32_000;

/** No user can log in interactively in a sandbox, so only a method that accepts a key is usable. */
export function authMethodFor({ authenticate }: AcpSpec, offered: readonly { readonly id: string }[]): string {
  const ids = offered.map(({ id }) => id);
  const found = ids.find((id) => (authenticate === undefined ? /api.?key/i.test(id) : id === authenticate));
  if (found !== undefined) return found;
  const offers = ids.length === 0 ? 'offers no method' : `offers only ${ids.join(', ')}`;
  throw new AdapterError(
    'MISSING_ENV_VAR',
    `the agent requires authentication and ${offers}; name the method as \`authenticate\` of this agent in config.yaml`,
  );
}
