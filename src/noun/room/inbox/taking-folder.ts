/**
 * `.carrel/taking`: moves an entry of an inbox there, posts or refuses it, and removes it. Its name there is a key that
 * contains the name and the kind of its sender: a participant that has never posted is known nowhere else. After a
 * crash the remaining entries are posted again with the same key, which changes nothing if they were posted before.
 *
 *   inbox/NAME → taking/KEY → (posted or refused) → taking/KEY~done → removed
 */
import { closeSync, constants, fsync, mkdirSync, openSync, readdirSync, renameSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isErrno, removeTree } from '../../../lib/file/file.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { type FolderEntry, renameNoReplace, SysError } from '../../../lib/sys/sys.ts';
import { isFault } from '../../../model/fault.ts';
import { ulidAfter } from '../../../model/ulid.ts';
import type { Participant, ParticipantKind } from '../model/room.ts';
import type { Room } from '../room.ts';
import { readPosted } from './front-matter.ts';
import { readTaken, type Taken, type TakenLimits, writeOutcome } from './taken.ts';

/** A taken entry: its key, its name in the inbox, and the participant whose inbox that is. */
export interface TakenEntry {
  readonly key: string;
  readonly name: string;
  readonly from: Participant;
}

const done = '~done';
const copies = '~files';
const keyPattern = /^[0-9A-Z]{26}-(person|sandbox|outside|service)-(.+?)(~done|~files)?$/;

export class TakingFolder {
  readonly #room: Pick<Room, 'post' | 'refuse'>;
  readonly #folder: string;
  readonly #fd: number;
  readonly #limits: TakenLimits;
  #lastKey: string | null = null;

  constructor(room: Pick<Room, 'post' | 'refuse'>, folder: string, limits: TakenLimits) {
    this.#room = room;
    this.#folder = folder;
    this.#limits = limits;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  }

  /** Null: the entry no longer exists. */
  take(entry: FolderEntry, from: Participant): TakenEntry | null {
    const key = this.#move(entry, `${from.kind}-${from.name}`);
    return key === null ? null : { key, name: plainName(entry.name), from };
  }

  #move(entry: FolderEntry, suffix: string): string | null {
    this.#lastKey = ulidAfter(this.#lastKey, Date.now());
    const key = `${this.#lastKey}-${suffix}`;
    try {
      renameNoReplace(entry, this.#at(key));
      return key;
    } catch (error) {
      if (error instanceof SysError && error.code === 'ENOENT') return null;
      throw error;
    }
  }

  /** Makes the moves durable, so that no posted file is in its inbox again after a power failure. */
  async sync(): Promise<void> {
    crashPoint('inbox-taken');
    await promisify(fsync)(this.#fd);
    crashPoint('inbox-synced');
  }

  /**
   * Resolves when the entry is posted or refused, and removed. Rejects if neither is possible now; then call it again.
   */
  async deliver(entry: TakenEntry): Promise<void> {
    // Nothing is awaited before the post, so that entries that are delivered together keep their order.
    const taken = readTaken(this.#at(entry.key), join(this.#folder, `${entry.key}${copies}`), this.#limits);
    if (taken === null) return;
    crashPoint('inbox-read');
    const outcome = taken.kind === 'message' ? await this.#post(entry, taken) : await this.#refuse(entry, taken);
    crashPoint('inbox-delivered');
    await this.#drop(entry.key, outcome);
  }

  async #post(entry: TakenEntry, { text, attachments }: Extract<Taken, { kind: 'message' }>): Promise<string> {
    const { body, replyTo } = readPosted(text);
    const { key, from } = entry;
    try {
      return `${(await this.#room.post({ from, via: 'inbox', body, replyTo, attachments, key })).id}\n`;
    } catch (error) {
      if (!isFault(error) || !isRefusal(error)) throw error;
      return this.#refuse(entry, { reason: error.message, sample: Buffer.from(body) });
    }
  }

  async #refuse({ key, name, from }: TakenEntry, why: { reason: string; sample: Uint8Array | null }): Promise<string> {
    await this.#room.refuse({ from: from.name, name, key, ...why });
    return `refused: ${why.reason}\n`;
  }

  /** Refuses an entry without reading it, and removes it. `why.key` makes it idempotent. */
  async discard(entry: FolderEntry, from: Participant, why: { key: string; reason: string }): Promise<void> {
    await this.#room.refuse({ from: from.name, name: plainName(entry.name), sample: null, ...why });
    crashPoint('inbox-discarded');
    const taken = this.#move(entry, `${from.kind}-${from.name}${done}`);
    if (taken !== null) await this.#remove(taken.slice(0, -done.length), `refused: ${why.reason}\n`);
  }

  async #drop(key: string, outcome: string): Promise<void> {
    renameSync(join(this.#folder, key), join(this.#folder, `${key}${done}`));
    crashPoint('inbox-done');
    await this.#remove(key, outcome);
  }

  async #remove(key: string, outcome: string): Promise<void> {
    const path = join(this.#folder, `${key}${done}`);
    writeOutcome(this.#at(`${key}${done}`), outcome);
    if (!isUnlinked(path)) await Promise.all([removeTree(path), removeTree(join(this.#folder, `${key}${copies}`))]);
  }

  /** Delivers entries that an earlier process took and did not finish. Call it before the first `take`. */
  async recover(): Promise<void> {
    for (const key of readdirSync(this.#folder).sort()) {
      const [, kind, name, suffix] = keyPattern.exec(key) ?? [];
      if (name === undefined || suffix !== undefined) await removeTree(join(this.#folder, key));
      else await this.deliver({ key, name: key, from: { name, kind: kind as ParticipantKind } });
    }
  }

  close(): void {
    closeSync(this.#fd);
  }

  #at(name: string): FolderEntry {
    return { folderFd: this.#fd, name: Buffer.from(name) };
  }
}

/** False: it is a folder. */
function isUnlinked(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch (error) {
    if (isErrno(error, 'EISDIR') || isErrno(error, 'EPERM')) return false;
    throw error;
  }
}

/** Whether the room refused this message. Other faults mean that it cannot accept any message now. */
function isRefusal({ code, data }: { readonly code: string; readonly data?: unknown }): boolean {
  return ['invalid', 'denied', 'conflict'].includes(code) || (code === 'exhausted' && data !== undefined);
}

/** Returns a safe file name, whatever name the sandbox chose. */
function plainName(name: Uint8Array): string {
  return Buffer.from(name)
    .toString('latin1')
    .replaceAll(/[^\w.+-]/g, '_')
    .slice(0, 100);
}
