/**
 * An entry that was taken out of an inbox: `.carrel/taking/KEY`, a file or a folder that no consumer can reach by a
 * path any more. A sandbox may still have it open, so it is read only once, with bounds, and exactly these bytes are
 * posted.
 */
import { closeSync, constants, mkdirSync, opendirSync, rmSync, type Stats, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { readUpTo } from '../../../lib/file/bounded-read.ts';
import type { FolderEntry } from '../../../lib/sys/sys.ts';
import type { NewAttachment } from '../room.ts';
import { messageName, reopened, withEntry } from './inbox-entry.ts';

export interface TakenLimits {
  readonly bodyBytes: number;
  readonly attachments: number;
  readonly attachmentBytes: number;
}

export type Taken =
  | { readonly kind: 'message'; readonly text: string; readonly attachments: readonly NewAttachment[] }
  | { readonly kind: 'refused'; readonly reason: string; readonly sample: Uint8Array | null };

export const maxSampleBytes = 64 * 1024;

/** `copies` is a folder for copies of attachments; it is created if needed. Null: the entry does not exist. */
export function readTaken(entry: FolderEntry, copies: string, limits: TakenLimits): Taken | null {
  return withEntry(entry, (fd, stat) =>
    stat.isDirectory() ? readFolder(fd, copies, limits) : readMessage(fd, stat, limits),
  );
}

function readMessage(pathFd: number, stat: Stats, { bodyBytes }: TakenLimits): Taken {
  const bytes = readRegular(pathFd, stat, bodyBytes);
  if (typeof bytes === 'string') return refused(bytes);
  if (bytes.length > bodyBytes) return refused(`longer than ${bodyBytes} bytes`, bytes);
  const text = decoded(bytes);
  if (text === null) return refused('not UTF-8', bytes);
  return text.trim() === '' ? refused('empty') : { kind: 'message', text, attachments: [] };
}

/** The first bytes of a file, at most `maxBytes` + 1; or the reason why it is not read. */
export function readRegular(pathFd: number, stat: Stats, maxBytes: number): Buffer | string {
  if (!stat.isFile()) return `${kindOf(stat)}, not a regular file`;
  if (stat.nlink !== 1) return 'a file with several links';
  const fd = reopened(pathFd, constants.O_RDONLY);
  if (fd === null) return 'a file that cannot be read';
  try {
    return readUpTo(fd, maxBytes + 1);
  } finally {
    closeSync(fd);
  }
}

function kindOf(stat: Stats): string {
  if (stat.isSymbolicLink()) return 'a symbolic link';
  if (stat.isDirectory()) return 'a folder';
  if (stat.isFIFO()) return 'a pipe';
  return stat.isSocket() ? 'a socket' : 'a device';
}

function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function refused(reason: string, sample: Uint8Array | null = null): Taken {
  return { kind: 'refused', reason, sample: sample?.subarray(0, maxSampleBytes) ?? null };
}

/** R11. `folderFd` is O_PATH: names can be opened relative to it, but it cannot be read itself. */
function readFolder(folderFd: number, copies: string, limits: TakenLimits): Taken {
  const names = namesIn(folderFd, limits.attachments + 1);
  if (names === null) return refused(`more than ${limits.attachments} attachments`);
  const message = withEntry({ folderFd, name: messageName }, (fd, stat) => readMessage(fd, stat, limits));
  if (message === null) return refused('a folder without message.md');
  if (message.kind === 'refused') return { ...message, reason: `message.md: ${message.reason}` };
  const files = names.filter((name) => !name.equals(messageName));
  const attachments = copyAll(folderFd, files, copies, limits);
  return typeof attachments === 'string'
    ? refused(attachments, Buffer.from(message.text))
    : { ...message, attachments };
}

/** Null: the folder has more names than `most`. */
function namesIn(folderFd: number, most: number): Buffer[] | null {
  const folder = opendirSync(`/proc/self/fd/${folderFd}`, { encoding: 'buffer' as BufferEncoding });
  try {
    const names: Buffer[] = [];
    for (let one = folder.readSync(); one !== null; one = folder.readSync()) {
      if (names.push(one.name as unknown as Buffer) > most) return null;
    }
    return names;
  } finally {
    folder.closeSync();
  }
}

/** The copies, or the reason for a refusal. */
function copyAll(
  folderFd: number,
  names: readonly Buffer[],
  copies: string,
  { attachmentBytes }: TakenLimits,
): NewAttachment[] | string {
  const attachments: NewAttachment[] = [];
  let left = attachmentBytes;
  if (names.length > 0) makeEmpty(copies);
  for (const [index, bytes] of names.entries()) {
    const name = decoded(bytes);
    if (name === null || !attachmentName.test(name)) return 'an attachment whose name is hidden or not plain text';
    const content = withEntry({ folderFd, name: bytes }, (fd, stat) => readRegular(fd, stat, left)) ?? 'gone';
    if (typeof content === 'string') return `attachment ${name}: ${content}`;
    left -= content.length;
    if (left < 0) return `attachments of more than ${attachmentBytes} bytes`;
    const file = join(copies, String(index));
    writeFileSync(file, content, { mode: 0o600, flag: 'wx' });
    attachments.push({ name, file });
  }
  return attachments;
}

/** An earlier attempt may have left files in the folder. */
function makeEmpty(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
}

const attachmentName = /^[^./\x00-\x1f\x7f][^/\x00-\x1f\x7f]{0,199}$/;

/**
 * Writes the outcome as the first line of the file itself: the id of the message, or why it was refused. A sender that
 * has kept the file open waits until it has no name any more, then reads that line.
 */
export function writeOutcome(entry: FolderEntry, outcome: string): void {
  withEntry(entry, (fd, stat) => {
    if (stat.isDirectory()) writeOutcome({ folderFd: fd, name: messageName }, outcome);
    else if (stat.isFile() && stat.nlink === 1) overwrite(fd, outcome);
  });
}

function overwrite(pathFd: number, text: string): void {
  // The file is not truncated: some filesystems would then flush it to disk, although it is removed right after.
  const fd = reopened(pathFd, constants.O_WRONLY);
  if (fd === null) return;
  try {
    writeSync(fd, text, 0);
  } catch {
    // The disk is full, ignoring: the sender finds its message in the room.
  } finally {
    closeSync(fd);
  }
}
