/**
 * Access to a daemon of another account: by its shared socket and a token. The token is read when it is needed
 * and is sent only in requests.
 */
import { closeSync, fstatSync, openSync, type Stats } from 'node:fs';
import { resolve } from 'node:path';
import { readUpTo } from '../../lib/file/bounded-read.ts';
import { Fault } from '../../model/fault.ts';

const maxTokenBytes = 4096;

/** The socket of a shared daemon; null: `--home` names another daemon, or CARREL_SOCKET is not set. */
export function socketOf(homeFlag: string | undefined, env: NodeJS.ProcessEnv = process.env): string | null {
  return homeFlag === undefined && env.CARREL_SOCKET ? resolve(env.CARREL_SOCKET) : null;
}

/** The token for this daemon. A token for the shared socket is not sent to a home that `--home` names instead. */
export function tokenFor(
  socket: string | null,
  warn: (text: string) => void,
  env: NodeJS.ProcessEnv = process.env,
): string | undefined {
  if (env.CARREL_SOCKET && socket === null) return undefined;
  if (env.CARREL_TOKEN) return checked(env.CARREL_TOKEN, 'CARREL_TOKEN');
  if (!env.CARREL_TOKEN_FILE) return undefined;
  return checked(readToken(env.CARREL_TOKEN_FILE, warn), `CARREL_TOKEN_FILE, ${env.CARREL_TOKEN_FILE},`);
}

function readToken(path: string, warn: (text: string) => void): string {
  try {
    const file = openSync(path, 'r');
    try {
      if (isOpenToOthers(fstatSync(file))) warn(`others can read your token: chmod 600 ${path}`);
      return readUpTo(file, maxTokenBytes).toString('latin1');
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new Fault('invalid', `CARREL_TOKEN_FILE: ${(error as Error).message}`, {
      cause: error,
      hint: 'Write your token into that file, or name another file.',
    });
  }
}

/** Whether other accounts can use the file. A file of root that one group can read is shared on purpose. */
export function isOpenToOthers({ mode, uid }: Pick<Stats, 'mode' | 'uid'>): boolean {
  const lent = uid === 0 && (mode & 0o037) === 0;
  return (mode & 0o077) !== 0 && !lent;
}

/** A text that is not a token is refused, so that it gets into no header and no error message. */
function checked(text: string, where: string): string {
  const token = text.trim();
  if (/^[\x21-\x7e]{1,1024}$/.test(token)) return token;
  throw new Fault('invalid', `${where} does not hold a token`, {
    hint: 'It is one line: what carrel user add printed.',
  });
}
