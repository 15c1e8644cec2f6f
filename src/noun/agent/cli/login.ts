/** `carrel agent login`: takes over the login of an agent on this machine, as a secret that is added to requests outside of sandboxes. */

import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { checkSecretValue } from '../../user/model.ts';
import { terminalAgents } from '../model/table.ts';
import { findLogin, renewal } from './host-login.ts';
import { unknownAgent } from './unknown.ts';

export async function login(context: Context, { args }: Invocation): Promise<void> {
  const agent = args[0]!;
  if (!Object.hasOwn(terminalAgents, agent)) throw unknownAgent(agent);
  const { kind, value, expiresAt } = findLogin(agent);
  const bytes = Buffer.from(value);
  checkSecretValue(kind.secret, bytes);
  const body = { name: kind.secret, valueBase64: bytes.toString('base64') };
  await connect(context).call('POST /v1/secrets', { body });
  const at = expiresAt?.toISOString() ?? null;
  if (context.json) return context.out.document({ agent, secret: kind.secret, expiresAt: at });
  context.out.print(`kept as the secret ${kind.secret}; it is added to requests outside of sandboxes, never inside`);
  if (at === null) return;
  const lifetime = kind.lifetime === undefined ? '' : `; such a token lives ${kind.lifetime}`;
  context.out.print(`it expires at ${at}${lifetime}`, renewal(agent));
}
