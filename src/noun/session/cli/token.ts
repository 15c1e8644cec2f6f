/** Makes, lists and revokes tokens for port 3002 of a sandbox. */

import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { canonicalVerb } from '../../../model/command-word.ts';
import { Fault } from '../../../model/fault.ts';
import { checkSandboxName } from '../../../model/name.ts';
import type { NewSessionToken } from '../api.ts';
import { agentApiPort } from '../model/session.ts';

export async function sessionToken(context: Context, { args }: Invocation): Promise<void> {
  const [sandbox, word, ...ids] = args;
  const name = checkSandboxName(sandbox!);
  if (word === undefined) return create(context, name);
  const verb = canonicalVerb(word);
  if (verb === 'ls' && ids.length === 0) return list(context, name);
  if (verb === 'rm' && ids.length > 0) return remove(context, name, ids);
  throw new Fault('invalid', 'session token takes a sandbox, and then ls, or rm with the ids of tokens', {
    hint: 'carrel help session token',
  });
}

async function create(context: Context, name: string): Promise<void> {
  const answer = connect(context).call('POST /v1/sandboxes/{name}/session-tokens', { path: { name } });
  const made = await printAnswer(context, answer, ({ token }) => plain(token));
  for (const line of explanation(name, made)) context.out.note(line);
}

function explanation(name: string, { id, url }: NewSessionToken): string[] {
  const place =
    url === null ? `Open the port with: carrel port add ${name} ${agentApiPort}` : `The API is at ${plain(url)}`;
  return ['This token is shown only once.', place, `Revoke it with: carrel session token ${name} rm ${plain(id)}`];
}

async function list(context: Context, name: string): Promise<void> {
  const answer = connect(context).call('GET /v1/sandboxes/{name}/session-tokens', { path: { name } });
  await printAnswer(
    context,
    answer,
    (tokens) => table([['ID', 'AGE'], ...tokens.map(({ id, createdAt }) => [plain(id), age(createdAt)])]),
    { empty: `no tokens; make one with: carrel session token ${name}` },
  );
}

async function remove(context: Context, name: string, ids: readonly string[]): Promise<void> {
  const client = connect(context);
  for (const id of ids) {
    const removed = await client.call('DELETE /v1/sandboxes/{name}/session-tokens/{id}', { path: { name, id } });
    if (context.json) context.out.document(removed);
    else context.out.print(plain(removed.id));
  }
}
