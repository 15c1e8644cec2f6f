/**
 * The files of a room that people and sandboxes read. They are written after the commit, in order: first the file of the message, then
 * its line in order.log, so that a reader of order.log finds every file that is named there.
 *
 * They are not synced. With every commit the database records how far the views are written; after a crash of the
 * daemon, the next start writes the rest. After a crash of the machine, recognized by a new boot id, all views are
 * compared with it.
 */
import {
  closeSync,
  fsyncSync,
  futimesSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import { readIfThere } from '../../../lib/file/file.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { currentBootId } from '../../../lib/process/process.ts';
import { ulidPattern } from '../../../model/ulid.ts';
import type { Messages, Numbered } from '../database/messages.ts';
import { GrowingView } from './growing-view.ts';
import { fileNameOf, fileTextOf, orderLineOf, threadEntryOf } from './message-file.ts';

const pageSize = 200;
const sliceMs = 10;

/** How far the views are written. */
export interface ViewState {
  readonly bootId: string;
  /** The number of the last message that they have. */
  readonly seq: number;
  readonly orderBytes: number;
  readonly threadBytes: number;
}

export const noViews: ViewState = { bootId: '', seq: 0, orderBytes: 0, threadBytes: 0 };

interface Growing {
  readonly view: GrowingView;
  readonly textOf: (message: Numbered) => string;
}

export class RoomViews {
  readonly #folder: string;
  readonly #messages: Messages;
  readonly #order: Growing;
  readonly #thread: Growing;
  readonly #bootId = currentBootId();
  #seq: number;

  constructor(folder: string, messages: Messages, state: ViewState) {
    this.#folder = folder;
    this.#messages = messages;
    this.#seq = state.seq;
    const growing = (name: string, bytes: number) =>
      new GrowingView(join(folder, name), join(folder, '.carrel', `${name}.new`), bytes);
    this.#order = { view: growing('order.log', state.orderBytes), textOf: orderLineOf };
    this.#thread = { view: growing('thread.md', state.threadBytes), textOf: threadEntryOf };
  }

  get state(): ViewState {
    const [orderBytes, threadBytes] = [this.#order.view.bytes, this.#thread.view.bytes];
    return { bootId: this.#bootId, seq: this.#seq, orderBytes, threadBytes };
  }

  /** Whether the views on disk can be trusted to match `state`. If not, `repair` is needed. */
  resume(state: ViewState): boolean {
    if (!this.#order.view.isComplete || !this.#thread.view.isComplete) return false;
    this.#order.view.cut();
    this.#thread.view.cut();
    return state.bootId === this.#bootId || state.seq === 0;
  }

  /**
   * Writes the messages that the views lack, for a few milliseconds only: on some disks creating a file takes longer
   * than a commit, and posts have priority. Returns whether the views are complete.
   */
  advance(): boolean {
    const page = this.#messages.from(this.#seq + 1, pageSize);
    const untilMs = performance.now() + sliceMs;
    let done = 0;
    while (done < page.length && (done === 0 || performance.now() < untilMs)) this.#writeFile(page[done++]!);
    this.#finish(page.slice(0, done));
    return done === page.length && page.length < pageSize;
  }

  #finish(messages: readonly Numbered[]): void {
    if (messages.length === 0) return;
    crashPoint('room.file-written');
    this.#order.view.append(messages.map(this.#order.textOf).join(''));
    crashPoint('room.order-written');
    this.#thread.view.append(messages.map(this.#thread.textOf).join(''));
    this.#seq = messages.at(-1)!.seq;
  }

  /** The file gets the time of the message as its mtime, so that a later change of the file is noticed. */
  #writeFile(message: Numbered): void {
    const fresh = join(this.#folder, '.carrel', 'message.new');
    const at = Date.parse(message.at) / 1000;
    const fd = openSync(fresh, 'w', 0o600);
    try {
      const bytes = Buffer.from(fileTextOf(message));
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
      futimesSync(fd, at, at);
    } finally {
      closeSync(fd);
    }
    renameSync(fresh, this.#pathOf(message));
  }

  #pathOf(message: Numbered): string {
    return join(this.#folder, 'processed', fileNameOf(message));
  }

  /** Removes the files of messages that are in the archive now. */
  removeFiles(archived: readonly Numbered[]): void {
    for (const message of archived) rmSync(this.#pathOf(message), { force: true });
  }

  /** Writes order.log and thread.md again from the database. */
  async rewrite(): Promise<void> {
    for (const growing of [this.#order, this.#thread]) await this.#rewrite(growing);
  }

  /** Whether order.log and thread.md have the right length. This costs the same in a room of any size. */
  async hasLengths(): Promise<boolean> {
    while (!this.advance()) await breathe();
    return this.#order.view.endsThere && this.#thread.view.endsThere;
  }

  /** Compares all files with the database, a page at a time. Returns how many it wrote. */
  async repair(): Promise<number> {
    while (!this.advance()) await breathe();
    const strangers = new Set(this.#listed());
    const places = new Map([this.#order, this.#thread].map((growing) => [growing, { at: 0, isSame: true }]));
    let written = 0;
    for await (const page of this.#pages()) {
      for (const message of page) {
        strangers.delete(fileNameOf(message));
        if (this.#isWhole(message)) continue;
        this.#writeFile(message);
        written += 1;
      }
      for (const [{ view, textOf }, place] of places) {
        const text = page.map(textOf).join('');
        place.isSame &&= view.has(text, place.at);
        place.at += Buffer.byteLength(text);
      }
    }
    for (const name of strangers) rmSync(join(this.#folder, 'processed', name), { force: true });
    for (const [growing, { isSame }] of places) {
      if (isSame && growing.view.endsThere) continue;
      await this.#rewrite(growing);
      written += 1;
    }
    return written;
  }

  /** Names of files that look like messages. Other files are left alone. */
  #listed(): string[] {
    return readdirSync(join(this.#folder, 'processed')).filter((name) => ulidPattern.test(name.slice(0, 26)));
  }

  #isWhole(message: Numbered): boolean {
    const stat = statSync(this.#pathOf(message), { throwIfNoEntry: false });
    if (!stat?.isFile() || Math.abs(stat.mtimeMs - Date.parse(message.at)) >= 1) return false;
    return stat.size === Buffer.byteLength(fileTextOf(message));
  }

  /** The messages that the views have. Yields to the event loop between two pages. */
  async *#pages(): AsyncGenerator<readonly Numbered[]> {
    for (let seq = this.#messages.firstSeq(); ; ) {
      const page = this.#messages.from(seq, pageSize).filter((message) => message.seq <= this.#seq);
      if (page.length === 0) return;
      yield page;
      seq = page.at(-1)!.seq + 1;
      await breathe();
    }
  }

  async #rewrite({ view, textOf }: Growing): Promise<void> {
    const fresh = view.rewrite();
    for (let seq = this.#messages.firstSeq(); ; await breathe()) {
      const page = this.#messages.from(seq, pageSize).filter((message) => message.seq <= this.#seq);
      // No pause before the replacement, so that the fresh file has every message that is written so far.
      if (page.length === 0) return view.replace(fresh);
      fresh.append(page.map(textOf).join(''));
      seq = page.at(-1)!.seq + 1;
    }
  }
}

/** Replaces a small file atomically. False: the file had this text already. */
export function replaceFile(folder: string, name: string, text: string): boolean {
  const path = join(folder, name);
  if (readIfThere(path) === text) return false;
  const fresh = join(folder, '.carrel', `${name}.new`);
  const fd = openSync(fresh, 'w', 0o600);
  try {
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(fresh, path);
  return true;
}
