import { join } from 'node:path';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';
import { checkUserName } from '../../../model/user.ts';
import { type AccountOptions, uidOf } from './account.ts';

export async function userAdd(context: Context, invocation: Invocation<AccountOptions>): Promise<void> {
  const name = checkUserName(invocation.args[0]!);
  const uid = await uidOf(invocation.options);
  const answer = await connect(context).call('POST /v1/users', { body: { name, ...(uid === null ? {} : { uid }) } });
  if (context.json) return context.out.document(answer);
  context.out.print(plain(answer.token));
  for (const line of instructions(name, await sharing(context, answer.socket), context.home)) context.out.say(line);
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
