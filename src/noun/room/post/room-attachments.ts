/** Files that come with messages. They are copied before the commit, so that an acknowledged message has them. */
import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { copyDurably, syncFolder } from '../../../lib/file/file.ts';
import { Fault } from '../../../model/fault.ts';
import { hasInvisible } from '../../../model/invisible.ts';
import { printable } from '../../../model/name.ts';
import { formatSize } from '../../../model/size.ts';
import type { AttachedFile, RoomLimits } from '../model/room.ts';
import type { NewAttachment } from '../room.ts';

const maxNameBytes = 200;

export class RoomAttachments {
  readonly #folder: string;

  constructor(room: string) {
    this.#folder = join(room, 'attachments');
  }

  /** Returns names and sizes, or throws the reason for a refusal. */
  check(files: readonly NewAttachment[], limits: RoomLimits): AttachedFile[] {
    if (files.length > limits.attachments) {
      throw new Fault('invalid', `the message has ${files.length} attachments; the limit is ${limits.attachments}`);
    }
    const names = files.map(({ name }) => checkName(name));
    if (new Set(names).size < names.length) throw new Fault('invalid', 'two attachments have the same name');
    const found = files.map(({ name, file }) => ({ name, bytes: sizeOf(file) }));
    const bytes = found.reduce((sum, one) => sum + one.bytes, 0);
    if (bytes <= limits.attachmentBytes) return found;
    throw new Fault(
      'exhausted',
      `the attachments have ${formatSize(bytes)}; the limit is ${formatSize(limits.attachmentBytes)}`,
    );
  }

  copy(id: string, files: readonly NewAttachment[]): void {
    if (files.length === 0) return;
    const folder = join(this.#folder, id);
    mkdirSync(folder, { mode: 0o700 });
    for (const { name, file } of files) copyDurably(file, join(folder, name));
    syncFolder(folder);
    syncFolder(this.#folder);
  }

  /** Removes the attachments of posts that were not committed: their ids are greater than the last id. */
  dropAfter(lastId: string | null): void {
    for (const id of readdirSync(this.#folder)) {
      if (id > (lastId ?? '')) rmSync(join(this.#folder, id), { recursive: true, force: true });
    }
  }
}

function checkName(name: string): string {
  const isUsable = name !== '' && !name.startsWith('.') && !name.includes('/') && !hasInvisible(name);
  if (isUsable && Buffer.byteLength(name) <= maxNameBytes) return name;
  throw new Fault('invalid', `${printable(name)} is not a name for an attachment`);
}

function sizeOf(file: string): number {
  const stat = lstatSync(file);
  if (stat.isFile()) return stat.size;
  throw new Fault('invalid', `${printable(file)} is not a regular file`);
}
