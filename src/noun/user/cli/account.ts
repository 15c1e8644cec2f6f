/** Finds the account on this machine whose folders a user may use as projects. */

import { parseCount } from '../../../client/option.ts';
import { run } from '../../../lib/process/run.ts';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';

export interface AccountOptions {
  readonly uid?: string;
  readonly account?: string;
}

const maxUid = 0xffff_fffe;

/** The id of the account; null: the options name none. */
export async function uidOf({ uid, account }: AccountOptions): Promise<number | null> {
  if (uid !== undefined && account !== undefined)
    throw new Fault('invalid', '--uid and --account name the same thing', { hint: 'Give one of them.' });
  if (account !== undefined) return lookUp(account);
  return uid === undefined ? null : parseUid(uid);
}

function parseUid(text: string): number {
  const uid = parseCount(text, '--uid');
  if (uid <= maxUid) return uid;
  throw new Fault('invalid', `--uid: ${printable(text)} is not the number of an account`);
}

async function lookUp(login: string): Promise<number> {
  const { exitCode, stdout } = await run(['id', '-u', '--', login]);
  if (login !== '' && exitCode === 0) return parseUid(stdout.trim());
  throw new Fault('not_found', `--account: there is no account ${printable(login)} on this machine`, {
    hint: 'Name a login of this machine, or give its number with --uid.',
  });
}
