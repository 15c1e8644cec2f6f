import { join } from 'node:path';
import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { checkUserName } from '../../../model/user.ts';
import type { UserView } from '../api.ts';
import { type AccountOptions, uidOf } from './account.ts';

export async function userAdd(context: Context, invocation: Invocation<AccountOptions>): Promise<void> {
  const name = checkUserName(invocation.args[0]!);
  const uid = await uidOf(invocation.options);
  const answer = connect(context).call('POST /v1/users', { body: { name, ...(uid === null ? {} : { uid }) } });
  const { socket } = await printAnswer(context, answer, ({ token }) => plain(token));
  if (context.json) return;
  for (const line of instructions(name, await sharing(context, socket), context.home)) context.out.say(line);
}

/** The socket for other users; `waiting`: the next daemon opens it; null: none is configured. */
type Sharing = string | 'waiting' | null;

async function sharing(context: Context, socket: string | null): Promise<Sharing> {
  if (socket !== null) return socket;
  const { settings } = await connect(context).call('GET /v1/status');
  return settings.waiting.includes('share.socket') ? 'waiting' : null;
}

/** Printed to stderr, so that `carrel user add NAME > FILE` writes only the token to the file. */
export function instructions(name: string, socket: Sharing, home: string): string[] {
  const export_ = (path: string) => `  export CARREL_SOCKET=${path} CARREL_TOKEN_FILE=FILE`;
  return [
    `This is the token of ${name}, shown only once. ${name} stores it in a FILE that no other user can read, and then:`,
    export_(socket === null || socket === 'waiting' ? 'SOCKET' : plain(socket)),
    ...(socket === 'waiting'
      ? [`No other user can connect yet: share.socket in config.yaml is opened after: carrel down`]
      : []),
    ...(socket === null
      ? [
          `No other user can connect yet: put share: {socket: SOCKET} into ${join(home, 'config.yaml')}, then: carrel down`,
        ]
      : []),
  ];
}

export async function userLs(context: Context): Promise<void> {
  await printAnswer(context, connect(context).call('GET /v1/users'), userListing);
}

export function userListing(users: readonly UserView[], now?: number): string[] {
  const rows = users.map(({ name, isOwner, slot, uid, sandboxes, createdAt }) => [
    `${plain(name)}${isOwner ? ' (owner)' : ''}`,
    String(slot),
    uid === null ? '-' : String(uid),
    String(sandboxes),
    `${age(createdAt, now)} ago`,
  ]);
  return table([['NAME', 'SLOT', 'ACCOUNT', 'SANDBOXES', 'CREATED'], ...rows]);
}

export async function userToken(context: Context, { args }: Invocation): Promise<void> {
  const body = args[0] === undefined ? {} : { name: checkUserName(args[0]) };
  const answer = connect(context).call('POST /v1/users/token', { body });
  const { user } = await printAnswer(context, answer, ({ token }) => plain(token));
  context.out.say(
    `This is the new token of ${plain(user.name)} and is shown only once; the old one is no longer valid.`,
  );
}

export async function userRm(context: Context, { args }: Invocation): Promise<void> {
  const answer = connect(context).call('DELETE /v1/users/{name}', { path: { name: checkUserName(args[0]!) } });
  await printAnswer(context, answer, (view) => plain(view.name));
}
