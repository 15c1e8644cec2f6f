import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { checkSecretValue } from '../../user/model.ts';
import { terminalAgents } from '../model/table.ts';
import { findLogin, renewal } from './host-login.ts';
import { onPath } from './on-path.ts';
import { unknownAgent } from './unknown.ts';

export async function ls(context: Context): Promise<void> {
  const agents = await connect(context).call('GET /v1/agents');
  const found = agents.map((one) => ({ ...one, program: one.program ?? onPath(one.name) }));
  if (context.json) return context.out.document(found);
  const rows = found.map(({ name, program, version, key }) => [
    name,
    version ?? '-',
    key === null ? '-' : plain(key),
    program === null ? `none: carrel agent install ${name}` : plain(program),
  ]);
  context.out.print(...table([['AGENT', 'INSTALLED', 'KEY', 'PROGRAM'], ...rows]));
}

/** Takes over the login of an agent on this machine, as a secret that is added to requests outside of sandboxes. */
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

export async function mcpLs(context: Context, { args: [name = ''] }: Invocation): Promise<void> {
  const found = await connect(context).call('GET /v1/sandboxes/{name}/mcp', { path: { name } });
  if (context.json) return context.out.document(found);
  const rows = found.servers.map((one) => [one.name, one.from, one.url ?? one.command?.join(' ') ?? '']);
  if (rows.length > 0) context.out.print(...table([['NAME', 'FROM', 'SERVER'], ...rows]));
  else context.out.note('no MCP servers; --memory-scope, --memory-bank and --room give a sandbox some');
  for (const { name: one, from, reason } of found.skipped)
    context.out.warn(`${plain(one)} of ${from} is left out: ${plain(reason)}`);
}
