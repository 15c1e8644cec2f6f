/**
 * Proves that a consumer and the host see each other's files: the consumer reads a file of the host, makes one of its
 * own and, unless it only reads, writes the file of the host. The files have random names, are created through an open
 * folder and are removed.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, constants, fchownSync, fstatSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { type Anchor, within } from '../../lib/file/anchor.ts';
import { ReadRefusal, readBounded } from '../../lib/file/bounded-read.ts';
import { isErrno } from '../../lib/file/file.ts';
import type { Ran } from '../../lib/process/run.ts';
import { openFolder } from './folder.ts';
import type { Consumer, Share } from './model.ts';

/** Runs a program as the consumer. */
export type RunAs = (argv: readonly [string, ...string[]]) => Promise<Ran>;

export interface Failure {
  readonly side: 'host' | 'consumer';
  readonly reason: string;
  /** What the failure is about; the hint depends on it. */
  readonly kind: 'missing' | 'read' | 'write' | 'sealed' | 'unexpected' | 'host';
}

/** Null: both directions work. */
export async function probe(share: Share, { path, readonly }: Consumer, runAs: RunAs): Promise<Failure | null> {
  const id = randomBytes(12).toString('hex');
  const names = { host: `.carrel-probe-${id}-host`, consumer: `.carrel-probe-${id}-consumer` };
  const folder = openFolder(share);
  try {
    make(folder, names.host, id);
    return await exchange(folder, { id, names, path, readonly }, runAs);
  } finally {
    within(folder, () => removeAll(folder, Object.values(names)));
  }
}

interface Exchange {
  readonly id: string;
  readonly names: { readonly host: string; readonly consumer: string };
  readonly path: string;
  readonly readonly: boolean;
}

async function exchange(
  folder: Anchor,
  { id, names, path, readonly }: Exchange,
  runAs: RunAs,
): Promise<Failure | null> {
  const [ofHost, ofConsumer] = [`${path}/${names.host}`, `${path}/${names.consumer}`];
  const seen = await runAs(['cat', ofHost]);
  if (seen.exitCode !== 0 || seen.stdout !== id) return unread(seen);
  const made = await runAs(['cp', ofHost, ofConsumer]);
  if (readonly) return made.exitCode === 0 ? notReadonly(path) : null;
  if (made.exitCode !== 0) return unwritten(made, path);
  const back = contentOf(folder, names.consumer);
  if (back !== id)
    return { kind: 'host', side: 'host', reason: `the host does not see its file: ${back ?? 'there is none'}` };
  const changed = await runAs(['cp', ofConsumer, ofHost]);
  return changed.exitCode === 0 ? null : failed('write', `it cannot change a file of the host: ${words(changed)}`);
}

function unread(ran: Ran): Failure {
  if (/No such file|can't open|cannot open/i.test(ran.stderr) && !/denied/i.test(ran.stderr))
    return failed('missing', 'the folder is not mounted there');
  return failed('read', `it cannot read a file of the host: ${words(ran)}`);
}

function unwritten(ran: Ran, path: string): Failure {
  if (/read-only file system/i.test(ran.stderr)) return failed('sealed', `${path} is mounted read-only there`);
  return failed('write', `it cannot make a file: ${words(ran)}`);
}

function notReadonly(path: string): Failure {
  return failed('unexpected', `it can write ${path}, which is to be read-only`);
}

function failed(kind: Failure['kind'], reason: string): Failure {
  return { kind, side: 'consumer', reason };
}

function words({ stderr, exitCode }: Ran): string {
  return stderr.trim().split('\n')[0]?.slice(0, 300) || `exit code ${exitCode}`;
}

function make(folder: Anchor, name: string, content: string): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  // The ACL of the folder replaces the umask, so the file gives consumers the same access as other new files.
  const fd = openSync(folder.at(name), flags, 0o660);
  try {
    giveToOwner(folder, fd);
    writeSync(fd, content);
  } finally {
    closeSync(fd);
  }
}

/** The file stands for a file of the host, so it gets the owner of the folder. */
function giveToOwner(folder: Anchor, fd: number): void {
  const { uid, gid } = fstatSync(folder.fd);
  if (uid !== process.getuid!()) fchownSync(fd, uid, gid);
}

/** A consumer may have put anything there, so a link is not followed and a pipe does not block. */
function contentOf(folder: Anchor, name: string): string | null {
  try {
    return readBounded(folder.at(name), 64)?.bytes.toString('utf8') ?? null;
  } catch (error) {
    if (error instanceof ReadRefusal) return error.message;
    throw error;
  }
}

/** Removes the files of the probe. A folder that a consumer put in the place of one stays. */
function removeAll(folder: Anchor, names: readonly string[]): void {
  for (const name of names) {
    try {
      unlinkSync(folder.at(name));
    } catch (error) {
      if (!isErrno(error, 'ENOENT') && !isErrno(error, 'EISDIR')) throw error;
    }
  }
}
