/** `carrel agent login`: takes over the login of an agent on this machine, as a secret that is added to requests outside of sandboxes. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { agents, type HostLogin, terminalAgents } from '../../model/agent-table.ts';
import { Fault } from '../../model/fault.ts';
import { checkSecretValue } from '../../model/secret.ts';
import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { unknownAgent } from './unknown.ts';

export default async function login(context: Context, { args }: Invocation): Promise<void> {
  const agent = args[0]!;
  if (!Object.hasOwn(terminalAgents, agent)) throw unknownAgent(agent);
  const known = agents[agent]!.login;
  if (known === undefined) throw cannot(agent);
  const content = contentOf(agent, known);
  const value = at(content, known.value);
  if (typeof value !== 'string' || value === '') throw notThere(agent, known);
  const bytes = Buffer.from(value);
  checkSecretValue(known.secret, bytes);
  const body = { name: known.secret, valueBase64: bytes.toString('base64') };
  await connect(context).call('POST /v1/secrets', { body });
  const expires = expiryOf(content, known);
  if (context.json) return context.out.document({ agent, secret: known.secret, expiresAt: expires });
  context.out.print(`kept as the secret ${known.secret}; it is added to requests outside of sandboxes, never inside`);
  if (expires !== null) context.out.print(`it expires at ${expires}; then: carrel agent login ${agent}`);
}

function contentOf(agent: string, known: HostLogin): unknown {
  try {
    return JSON.parse(readFileSync(join(homedir(), known.file), 'utf8'));
  } catch {
    throw notThere(agent, known);
  }
}

function at(content: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], content);
}

function expiryOf(content: unknown, { expires }: HostLogin): string | null {
  const ms = expires === undefined ? null : at(content, expires);
  return typeof ms === 'number' && Number.isFinite(ms) ? new Date(ms).toISOString() : null;
}

function notThere(agent: string, { file, instead }: HostLogin): Fault {
  return new Fault('not_found', `~/${file} has no login of ${agent} that can be added outside of a sandbox`, {
    hint: `Use a key: carrel secret set ${instead}`,
  });
}

/** Before anything is read: the program refreshes its tokens itself, so a sandbox would have to hold them. */
function cannot(agent: string): Fault {
  const secret = agents[agent]!.terminal?.key?.secret;
  return new Fault('unsupported', `the login of ${agent} cannot be added outside of a sandbox, so no sandbox gets it`, {
    hint: secret === undefined ? 'See: carrel agent ls' : `Use a key: carrel secret set ${secret}`,
  });
}
