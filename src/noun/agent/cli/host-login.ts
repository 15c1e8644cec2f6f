/**
 * The login of an agent in the home of the user who runs the command. The client takes only the token that goes into
 * requests from the file, never the token that renews it.
 */
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { isRefusal, readBounded } from '../../../lib/file/bounded-read.ts';
import { isErrno } from '../../../lib/file/file.ts';
import { Fault } from '../../../model/fault.ts';
import { claimHeader, headerValue, presetOfKey, servicesOf } from '../../network/model/credential.ts';
import { claimIn } from '../model/jwt.ts';
import { agents, type HostLogin, type LoginFile } from '../model/table.ts';
import { valueAt } from '../model/value-at.ts';

/** Real login files have a few kilobytes; parsing a file of this size takes no noticeable time. */
const maxFileBytes = 256 * 1024;

export interface FoundLogin {
  readonly kind: HostLogin;
  readonly value: string;
  /** Null: neither the file nor the token has an expiry time. */
  readonly expiresAt: Date | null;
}

/** The home of a user, and the environment, which may name other folders. */
export interface UserHome {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const ownHome: UserHome = { home: homedir(), env: process.env };

/** A file with logins. */
interface Place extends LoginFile {
  readonly path: string;
  readonly shown: string;
}

/** Whether the user has a login, expired or not: `carrel agent login` says how to renew an expired one. */
export function hasLogin(agent: string, user = ownHome): boolean {
  const known = agents[agent]?.login;
  if (known === undefined) return false;
  try {
    return kindIn(contentOf(agent, placeOf(known, user)), known) !== null;
  } catch {
    // `carrel agent login` reports the error in the file, ignoring.
    return false;
  }
}

/** The login, or a Fault that says why it cannot be used. */
export function findLogin(agent: string, user = ownHome, now = Date.now()): FoundLogin {
  const login = agents[agent]!.login;
  if (login === undefined) throw cannot(agent);
  const known = placeOf(login, user);
  const content = contentOf(agent, known);
  const found = kindIn(content, known);
  if (found === null) throw notThere(agent, known);
  checkUsable(agent, known, content, found);
  const expiresAt = expiryOf(content, found);
  if (expiresAt !== null && expiresAt.getTime() <= now) throw expired(agent, known, expiresAt);
  return { ...found, expiresAt };
}

type Found = Omit<FoundLogin, 'expiresAt'>;

function placeOf(login: LoginFile, { home, env }: UserHome): Place {
  const { file, folderVariable = '' } = login;
  const folder = env[folderVariable];
  if (!folder) return { ...login, path: join(home, file), shown: `~/${file}` };
  return { ...login, path: join(folder, basename(file)), shown: `$${folderVariable}/${basename(file)}` };
}

function contentOf(agent: string, known: Place): unknown {
  const bytes = bytesOf(agent, known);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw unusable(known, 'is not JSON', agent, error);
  }
}

/** Follows links, which people use for files like this: the client reads the file with the user's own permissions. */
function bytesOf(agent: string, known: Place): Buffer {
  try {
    const read = readBounded(realpathSync(known.path), maxFileBytes);
    if (read !== null) return read.bytes;
  } catch (error) {
    if (isRefusal(error, 'too_large')) throw unusable(known, `has more than ${maxFileBytes} bytes`, agent, error);
    if (isRefusal(error, 'not_regular')) throw unusable(known, 'is not a regular file', agent, error);
    if (!isErrno(error, 'ENOENT') && !isErrno(error, 'ENOTDIR')) {
      throw unusable(known, `cannot be read: ${(error as Error).message}`, agent, error);
    }
  }
  throw notThere(agent, known);
}

function kindIn(content: unknown, { kinds }: LoginFile): Found | null {
  for (const kind of kinds) {
    const value = valueAt(content, kind.value);
    const counts = kind.unless === undefined || valueAt(content, kind.unless.path) !== kind.unless.is;
    if (counts && typeof value === 'string' && value !== '') return { kind, value };
  }
  return null;
}

/** Requests name the account that is in the token, so it must be the account that the file names. */
function checkUsable(agent: string, known: Place, content: unknown, { kind, value }: Found): void {
  const [service] = servicesOf({ name: agent, secret: kind.secret, preset: presetOfKey(kind.secret)! });
  const bytes = Buffer.from(value);
  headerValue(service, kind.secret, bytes);
  const account = kind.account && valueAt(content, kind.account);
  if (typeof account !== 'string' || claimHeader(service, bytes)?.[1] === account) return;
  throw unusable(known, 'has a token that does not name the account beside it', agent);
}

function expiryOf(content: unknown, { kind: { expires }, value }: Found): Date | null {
  if (expires === undefined) return null;
  const time = 'file' in expires ? valueAt(content, expires.file) : claimIn(value, expires.claim);
  const date = new Date('file' in expires ? Number(time) : Number(time) * 1000);
  return typeof time === 'number' && !Number.isNaN(date.getTime()) ? date : null;
}

function notThere(agent: string, { shown }: Place): Fault {
  return new Fault('not_found', `${shown} has no login of ${agent} that can be added outside of a sandbox`, {
    hint: `Log in with ${agent} on this machine, then: carrel agent login ${agent}\n${keyHint(agent)}`,
  });
}

function unusable({ shown }: Place, why: string, agent: string, cause?: unknown): Fault {
  return new Fault('invalid', `${shown} ${why}`, {
    hint: `Log in again with ${agent} on this machine, then: carrel agent login ${agent}\n${keyHint(agent)}`,
    cause,
  });
}

function expired(agent: string, { shown }: Place, at: Date): Fault {
  return new Fault('not_ready', `the login of ${agent} in ${shown} expired at ${at.toISOString()}`, {
    hint: renewal(agent),
  });
}

/** Each agent renews its own login when it is used. */
export function renewal(agent: string): string {
  return `Use ${agent} on this machine once, which renews its login; then: carrel agent login ${agent}`;
}

/** Thrown before the file is read: the agent refreshes its tokens itself, so a sandbox would have to hold them. */
function cannot(agent: string): Fault {
  return new Fault('unsupported', `the login of ${agent} cannot be added outside of a sandbox, so no sandbox gets it`, {
    hint: keyHint(agent),
  });
}

function keyHint(agent: string): string {
  const secret = agents[agent]!.terminal?.key?.secret;
  return secret === undefined ? 'See: carrel agent ls' : `Use a key: carrel secret set ${secret}`;
}
