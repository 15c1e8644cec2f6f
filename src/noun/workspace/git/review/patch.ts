/**
 * Changes as one mail that `git am` takes on a checkout of their base. It holds what git can hold: files with their one
 * mode bit, and links. `leftOut` names the other changes.
 */
import type { BytePath } from '../../../../model/byte-path.ts';
import { Fault } from '../../../../model/fault.ts';
import type { Change } from '../../model/change.ts';
import { foldersAbove } from '../../tree/folders.ts';
import { openDiff } from './git-diff.ts';
import { isInsideGit, openStore } from './git-store.ts';
import { address, bodyText, headerText, mailDate, quotedPrintable } from './mail.ts';

export interface PatchHead {
  readonly subject: string;
  readonly body?: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly date: Date;
}

export interface Patch {
  /** Empty if there is nothing that a patch can hold. */
  readonly mail: AsyncIterable<Buffer>;
  /** Paths whose change is not in it, or not wholly. */
  readonly leftOut: readonly BytePath[];
}

/**
 * Works in an empty folder of the caller, which must stay until the mail is read. Marks are lines for people, which
 * `git am` leaves out.
 */
export async function makePatch(
  changes: readonly Change[],
  folder: string,
  head: PatchHead,
  marks: readonly string[] = [],
): Promise<Patch> {
  if (headerText(head.subject) === '') throw new Fault('invalid', 'a patch needs a subject');
  const held = changes.filter(({ path }) => !isInsideGit(path));
  const store = await openStore({ changes: held, folder, whole: true });
  const { entries, sections } = await openDiff(store, ['-p', '--binary', '--full-index']);
  const carried = new Set(entries.flatMap(({ path, from }) => (from === null ? [path] : [path, from])));
  const implied = foldersAbove(carried);
  return {
    mail: mail(head, marks, sections, store.hasCrLf),
    leftOut: changes.filter((change) => !isCarried(change, carried, implied)).map(({ path }) => path),
  };
}

function isCarried({ path, before, after }: Change, carried: ReadonlySet<BytePath>, implied: ReadonlySet<BytePath>) {
  if (after !== null && after.type !== 'file' && after.type !== 'link' && after.type !== 'folder') return false;
  if (carried.has(path)) return true;
  const onlyFolders = [before, after].every((entry) => entry === null || entry.type === 'folder');
  return onlyFolders && before?.type !== after?.type && implied.has(path);
}

/** Readers strip a CR at the end of a line, unless it is encoded. */
async function* mail(
  head: PatchHead,
  marks: readonly string[],
  sections: AsyncIterable<Buffer[]>,
  encoded: boolean,
): AsyncGenerator<Buffer> {
  const written = encoded ? quotedPrintable : (bytes: Buffer) => bytes;
  let begun = false;
  for await (const batch of sections) {
    if (!begun) yield* beginning(head, marks, encoded, written);
    begun = true;
    yield written(Buffer.concat(batch));
  }
  if (begun) yield written(Buffer.from('-- \ncarrel\n\n'));
}

function* beginning(
  head: PatchHead,
  marks: readonly string[],
  encoded: boolean,
  written: (bytes: Buffer) => Buffer,
): Generator<Buffer> {
  yield Buffer.from(headers(head, encoded));
  const body = bodyText(head.body ?? '');
  yield written(Buffer.from(`${body === '' ? '' : `${body}\n`}---\n${marks.map((mark) => `${mark}\n`).join('')}\n`));
}

function headers({ subject, author, date }: PatchHead, encoded: boolean): string {
  return [
    `From ${'0'.repeat(40)} Mon Sep 17 00:00:00 2001`,
    `From: ${address(author)}`,
    `Date: ${mailDate(date)}`,
    `Subject: [PATCH] ${headerText(subject)}`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=UTF-8',
    `Content-Transfer-Encoding: ${encoded ? 'quoted-printable' : '8bit'}`,
    '\n',
  ].join('\n');
}
