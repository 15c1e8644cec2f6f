/**
 * Access to a daemon of another account: by its shared socket and a token. The token is read when it is needed
 * and goes nowhere but into requests.
 */
import { closeSync, fstatSync, openSync, type Stats } from 'node:fs';
import { resolve } from 'node:path';
import { readUpTo } from '../../lib/bounded-read.ts';
import { Fault } from '../../model/fault.ts';

const maxTokenBytes = 4096;

/** The socket of a shared daemon. A home that was named on the command line is asked for instead. */
export function socketOf(homeFlag: string | undefined, env: NodeJS.ProcessEnv = process.env): string | null {
  return homeFlag === undefined && env.CARREL_SOCKET ? resolve(env.CARREL_SOCKET) : null;
}

/** The token that goes with the place: one for a shared socket means nothing to a home that was named instead. */
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

/** What root lends to one group is meant to be read by it. */
export function isOpenToOthers({ mode, uid }: Pick<Stats, 'mode' | 'uid'>): boolean {
  const lent = uid === 0 && (mode & 0o037) === 0;
  return (mode & 0o077) !== 0 && !lent;
}

/** Nothing that is no token can become part of a header, or of a message. */
function checked(text: string, where: string): string {
  const token = text.trim();
  if (/^[\x21-\x7e]{1,1024}$/.test(token)) return token;
  throw new Fault('invalid', `${where} does not hold a token`, {
    hint: 'It is one line: what carrel user add printed.',
  });
}
