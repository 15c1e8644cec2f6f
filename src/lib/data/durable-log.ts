/**
 * A log of lines, numbered from 1, that only grows. It has one writer, which holds it open.
 *
 * Appends that arrive while the disk is busy share the next write and the next flush; an append resolves when its line is durable, and
 * readers see only durable lines. A write that fails leaves nothing behind: its appends are refused, and the next ones get their numbers. Opening
 * cuts the log before the first line that is torn or damaged.
 */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { asFault, Fault } from '../../model/fault.ts';
import { syncFolder } from '../file/file.ts';
import { NewestEntries } from '../file/newest-entries.ts';
import { wholeLines } from '../file/whole-lines.ts';

const { O_RDWR, O_CREAT, O_NOFOLLOW, O_DSYNC } = constants;
const batchBytes = 1024 ** 2;
/** The number of lines between two marks, the positions that are known without reading the file. */
const markEvery = 256;

export interface DurableEntry<T> {
  readonly item: T;
  readonly line: string;
}

export interface DurableLogOptions<T> {
  readonly maxBytes: number;
  readonly maxLineBytes: number;
  /** Throws for a line that is damaged. */
  readonly parse: (line: string, number: number) => T;
  /**
   * Gets each durable line in order: the lines of the file while it is opened, a new line before its append resolves.
   * Must not throw.
   */
  readonly take?: (entry: DurableEntry<T>, number: number) => void;
  /** The path of a new file for the bytes that opening cuts off. */
  readonly damagedPath?: () => string;
}

interface Waiting<T> {
  readonly make: (number: number) => DurableEntry<T>;
  readonly resolve: (number: number) => void;
  readonly reject: (fault: Fault) => void;
}

interface Made<T> {
  readonly entry: DurableEntry<T>;
  readonly bytes: Buffer;
  readonly waiting: Waiting<T>;
}

/** The position and the digest after a certain number of lines. */
interface Mark {
  readonly offset: number;
  readonly digest: string;
}

export class DurableLog<T> {
  /** Bytes that opening cut; 0: the file was whole. */
  cutBytes = 0;
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #options: DurableLogOptions<T>;
  readonly #marks: Mark[] = [{ offset: 0, digest: '' }];
  readonly #waiting: Waiting<T>[] = [];
  readonly #followers = new Set<() => void>();
  readonly #newest = new NewestEntries<DurableEntry<T>>();
  #count = 0;
  #size = 0;
  #digest = '';
  /** True: bytes of a failed write may follow the last line. */
  #isDirty = false;
  #isClosed = false;
  #writing: Promise<void> | null = null;

  /** Creates the file if there is none. */
  static async open<T>(path: string, options: DurableLogOptions<T>): Promise<DurableLog<T>> {
    // O_DSYNC: a write returns when it is durable, with one round trip to the thread pool instead of two.
    const file = await open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_DSYNC, 0o600);
    try {
      const stat = await file.stat();
      if (!stat.isFile() || stat.nlink !== 1) {
        throw new Fault('denied', `${path} is not a regular file without other hard links`, { hint: 'Move it away.' });
      }
      const log = new DurableLog(path, file, options);
      await log.#load(stat.size);
      syncFolder(dirname(path));
      return log;
    } catch (error) {
      await file.close();
      throw asFault(error);
    }
  }

  private constructor(path: string, file: FileHandle, options: DurableLogOptions<T>) {
    this.#path = path;
    this.#file = file;
    this.#options = options;
  }

  /** The number of durable lines, which is also the number of the last one. */
  get count(): number {
    return this.#count;
  }

  /** The size of the durable lines in bytes. */
  get size(): number {
    return this.#size;
  }

  /**
   * `make` gets the number of the line; if it throws, only this append is refused. Resolves to the number when the line
   * is durable.
   */
  append(make: (number: number) => DurableEntry<T>): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new Fault('unavailable', `${this.#path} is closed`));
      this.#waiting.push({ make, resolve, reject });
      this.#writing ??= this.#write();
    });
  }

  /**
   * Yields the lines after that number, up to the last durable one. Memory use stays small even if the reader is slow.
   */
  async *read(after: number): AsyncGenerator<DurableEntry<T>> {
    for (let done = after; done < this.#count; ) {
      const newest = this.#newest.last(this.#count - done);
      const lines = newest === null ? this.#fromFile(done) : [newest];
      for await (const batch of lines) {
        for (const entry of batch) {
          yield entry;
          done += 1;
        }
      }
    }
  }

  /** Like `read`, then yields new lines until the signal aborts or the log is closed. */
  async *follow(after: number, signal: AbortSignal): AsyncGenerator<DurableEntry<T>> {
    let done = after;
    while (!signal.aborted && !this.#isClosed) {
      for await (const entry of this.read(done)) {
        if (signal.aborted || this.#isClosed) return;
        yield entry;
        done += 1;
      }
      if (done >= this.#count) await this.#grown(done, signal);
    }
  }

  /** The digest of the first lines: `sha256(digest(number - 1) + line)` in hex; empty for 0. */
  async digest(number: number): Promise<string> {
    if (number > this.#count) throw new Fault('invalid', `${this.#path} has ${this.#count} lines, not ${number}`);
    if (number === this.#count) return this.#digest;
    const index = Math.floor(number / markEvery);
    let { digest } = this.#marks[index]!;
    let at = index * markEvery;
    if (at === number) return digest;
    for await (const batch of this.#linesAfter(at)) {
      for (const { line } of batch) {
        digest = chain(digest, line);
        at += 1;
        if (at === number) return digest;
      }
    }
    throw this.#changed();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const wake of this.#followers) wake();
    await this.#writing;
    await this.#file.close();
  }

  async #load(size: number): Promise<void> {
    const span = { from: 0, to: size, maxLineBytes: this.#options.maxLineBytes };
    for await (const lines of wholeLines(this.#file, span)) {
      const isDamaged = lines.some((bytes) => !this.#loadLine(bytes));
      if (isDamaged) break;
    }
    if (this.#size === size) return;
    this.cutBytes = size - this.#size;
    await this.#setAside(size);
    await this.#file.truncate(this.#size);
    await this.#file.datasync();
  }

  #loadLine(bytes: Buffer): boolean {
    if (!isUtf8(bytes)) return false;
    const line = bytes.toString();
    let item: T;
    try {
      item = this.#options.parse(line, this.#count + 1);
    } catch {
      return false;
    }
    this.#keep({ item, line }, bytes.length + 1);
    return true;
  }

  async #setAside(size: number): Promise<void> {
    const path = this.#options.damagedPath?.();
    if (path === undefined) return;
    const stream = this.#file.createReadStream({ start: this.#size, end: size - 1, autoClose: false });
    await writeFile(path, stream, { mode: 0o600, flag: 'wx', flush: true });
  }

  async #write(): Promise<void> {
    // Appends of the same turn of the event loop share a write.
    await null;
    while (this.#waiting.length > 0) {
      const batch = this.#makeBatch();
      if (batch.length > 0) await this.#writeBatch(batch);
    }
    this.#writing = null;
  }

  #makeBatch(): Made<T>[] {
    const batch: Made<T>[] = [];
    let size = this.#size;
    while (this.#waiting.length > 0 && size - this.#size < batchBytes) {
      const waiting = this.#waiting.shift()!;
      try {
        const made = this.#make(waiting, this.#count + batch.length + 1, size);
        batch.push(made);
        size += made.bytes.length;
      } catch (error) {
        waiting.reject(asFault(error));
      }
    }
    return batch;
  }

  #make(waiting: Waiting<T>, number: number, size: number): Made<T> {
    const { maxBytes, maxLineBytes } = this.#options;
    const entry = waiting.make(number);
    const bytes = Buffer.from(`${entry.line}\n`);
    if (entry.line.includes('\n')) throw new Fault('invalid', 'a line of a log has no newline within');
    if (bytes.length > maxLineBytes) throw new Fault('exhausted', `a line may have ${maxLineBytes} bytes`);
    if (size + bytes.length > maxBytes) throw new Fault('exhausted', `${this.#path} has reached ${maxBytes} bytes`);
    return { entry, bytes, waiting };
  }

  async #writeBatch(batch: readonly Made<T>[]): Promise<void> {
    try {
      if (this.#isDirty) await this.#file.truncate(this.#size);
      this.#isDirty = true;
      const bytes = Buffer.concat(batch.map((made) => made.bytes));
      for (let done = 0; done < bytes.length; ) {
        done += (await this.#file.write(bytes, done, bytes.length - done, this.#size + done)).bytesWritten;
      }
      this.#isDirty = false;
    } catch (error) {
      await this.#undo();
      for (const { waiting } of batch) waiting.reject(asFault(error));
      return;
    }
    for (const { entry, bytes, waiting } of batch) waiting.resolve(this.#keep(entry, bytes.length));
    for (const wake of this.#followers) wake();
  }

  async #undo(): Promise<void> {
    try {
      await this.#file.truncate(this.#size);
      await this.#file.datasync();
      this.#isDirty = false;
    } catch {
      // The next write tries it again, ignoring.
    }
  }

  #keep(entry: DurableEntry<T>, bytes: number): number {
    this.#count += 1;
    this.#size += bytes;
    this.#digest = chain(this.#digest, entry.line);
    if (this.#count % markEvery === 0) this.#marks.push({ offset: this.#size, digest: this.#digest });
    this.#newest.add(entry, bytes);
    this.#options.take?.(entry, this.#count);
    return this.#count;
  }

  async *#fromFile(done: number): AsyncGenerator<DurableEntry<T>[]> {
    let at = Math.floor(done / markEvery) * markEvery;
    for await (const batch of this.#linesAfter(at)) {
      const from = Math.max(0, done - at);
      at += batch.length;
      if (from < batch.length) yield batch.slice(from);
    }
    if (at < done) throw this.#changed();
  }

  /** Yields the lines after a mark; `at` is the number of lines before it. */
  async *#linesAfter(at: number): AsyncGenerator<DurableEntry<T>[]> {
    const span = {
      from: this.#marks[at / markEvery]!.offset,
      to: this.#size,
      maxLineBytes: this.#options.maxLineBytes,
    };
    let number = at;
    let end = span.from;
    for await (const batch of wholeLines(this.#file, span)) {
      end = batch.reduce((sum, { length }) => sum + length + 1, end);
      yield batch.map((bytes) => this.#parse(bytes.toString(), ++number));
    }
    if (end !== span.to) throw this.#changed();
  }

  #parse(line: string, number: number): DurableEntry<T> {
    try {
      return { line, item: this.#options.parse(line, number) };
    } catch (error) {
      throw this.#changed(error);
    }
  }

  #changed(cause?: unknown): Fault {
    return new Fault('corrupt', `${this.#path} was changed by another program`, { cause });
  }

  #grown(count: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#followers.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#followers.add(wake);
      signal.addEventListener('abort', wake);
      if (signal.aborted || this.#isClosed || this.#count > count) wake();
    });
  }
}

function chain(digest: string, line: string): string {
  return createHash('sha256').update(digest).update(line).digest('hex');
}
