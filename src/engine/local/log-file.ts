/**
 * Reads what conmon logged: `TIME STREAM TAG CONTENT\n`, where the tag P says that the line goes on. When the file reaches
 * its size limit conmon replaces it with a new one; `keepEarlier` holds on to the one before by a hard link.
 */
import { linkSync, renameSync, statSync, watch } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../../lib/file.ts';
import type { LogLine, LogOptions } from '../engine.ts';

export const logName = 'log';
const earlierNames = ['log.2', 'log.1'] as const;

/**
 * log.1 is another name of the current file until conmon replaces that; then it is the file before. Called at the start
 * and whenever somebody looks, so that the file before the current one stays.
 */
export function keepEarlier(bundle: string): void {
  const [older, newer] = earlierNames.map((name) => join(bundle, name)) as [string, string];
  const current = join(bundle, logName);
  try {
    const kept = statSync(newer, { throwIfNoEntry: false });
    if (kept?.ino === statSync(current).ino) return;
    if (kept) renameSync(newer, older);
    linkSync(current, newer);
  } catch (error) {
    // The log is gone or is being replaced at this moment; the next look finds it, ignoring.
    if (!isErrno(error, 'ENOENT') && !isErrno(error, 'EEXIST')) throw error;
  }
}

export async function* readLog(
  bundle: string,
  options: LogOptions,
  ended: () => Promise<boolean>,
): AsyncGenerator<LogLine> {
  keepEarlier(bundle);
  if (options.tail !== null) {
    const { lines, position } = await lastLines(bundle, options.tail);
    yield* lines;
    if (options.follow) yield* follow(bundle, position, options.signal, ended);
    return;
  }
  yield* options.follow ? follow(bundle, null, options.signal, ended) : all(bundle);
}

interface Position {
  readonly inode: number;
  readonly offset: number;
}

async function* all(bundle: string): AsyncGenerator<LogLine> {
  for (const name of generations(bundle)) {
    const reader = await Generation.open(join(bundle, name));
    if (reader === null) continue;
    try {
      yield* reader.rest();
    } finally {
      await reader.close();
    }
  }
}

/** Names of the files there are, oldest first, each file once. */
function generations(bundle: string): string[] {
  const seen = new Set<number>();
  const names: string[] = [];
  for (const name of [logName, ...[...earlierNames].reverse()]) {
    const inode = statSync(join(bundle, name), { throwIfNoEntry: false })?.ino;
    if (inode === undefined || seen.has(inode)) continue;
    seen.add(inode);
    names.unshift(name);
  }
  return names;
}

async function lastLines(bundle: string, count: number): Promise<{ lines: LogLine[]; position: Position | null }> {
  const tail = new Tail(count);
  let position: Position | null = null;
  for (const name of generations(bundle)) {
    const reader = await Generation.open(join(bundle, name));
    if (reader === null) continue;
    try {
      for await (const piece of reader.rest()) tail.push(piece);
      position = reader.position;
    } finally {
      await reader.close();
    }
  }
  return { lines: tail.pieces(), position };
}

/** The last lines of what is pushed. A line may come in many pieces, and the last one may be unfinished. */
class Tail {
  readonly #count: number;
  #lines: LogLine[][] = [];
  #open: LogLine[] = [];

  constructor(count: number) {
    this.#count = count;
  }

  push(piece: LogLine): void {
    this.#open.push(piece);
    if (piece.bytes.at(-1) !== 0x0a) return;
    this.#lines.push(this.#open);
    this.#open = [];
    if (this.#lines.length > this.#count * 2 + 1024) this.#lines = this.#lines.slice(-this.#count);
  }

  pieces(): LogLine[] {
    const lines = this.#open.length > 0 ? [...this.#lines, this.#open] : this.#lines;
    return this.#count === 0 ? [] : lines.slice(-this.#count).flat();
  }
}

async function* follow(
  bundle: string,
  from: Position | null,
  signal: AbortSignal | undefined,
  ended: () => Promise<boolean>,
): AsyncGenerator<LogLine> {
  const changes = new Changes(bundle, signal);
  let position = from;
  try {
    while (!signal?.aborted) {
      const last = await ended();
      for (const name of laterThan(bundle, position)) {
        const reader = await Generation.open(join(bundle, name), position);
        if (reader === null) continue;
        try {
          for await (const line of reader.rest()) {
            yield line;
            if (signal?.aborted) return;
          }
          position = reader.position;
        } finally {
          await reader.close();
        }
      }
      keepEarlier(bundle);
      if (last) return;
      await changes.next();
    }
  } finally {
    changes.close();
  }
}

/** The file that was being read and those after it; all of them when it is no longer kept. */
function laterThan(bundle: string, position: Position | null): string[] {
  const names = generations(bundle);
  if (position === null) return names;
  const index = names.findIndex(
    (name) => statSync(join(bundle, name), { throwIfNoEntry: false })?.ino === position.inode,
  );
  return index < 0 ? names : names.slice(index);
}

/** One file of the log. */
class Generation {
  readonly #file: FileHandle;
  readonly #inode: number;
  #offset: number;

  private constructor(file: FileHandle, inode: number, offset: number) {
    this.#file = file;
    this.#inode = inode;
    this.#offset = offset;
  }

  static async open(path: string, from: Position | null = null): Promise<Generation | null> {
    try {
      const file = await open(path, 'r');
      const { ino } = await file.stat();
      return new Generation(file, ino, from?.inode === ino ? from.offset : 0);
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return null;
      throw error;
    }
  }

  get position(): Position {
    return { inode: this.#inode, offset: this.#offset };
  }

  /** From here to the end; an unfinished record stays for the next time. */
  async *rest(): AsyncGenerator<LogLine> {
    let held = Buffer.alloc(0);
    const buffer = Buffer.allocUnsafe(64 * 1024);
    for (;;) {
      const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, this.#offset + held.length);
      if (bytesRead === 0) return;
      held = Buffer.concat([held, buffer.subarray(0, bytesRead)]);
      for (let end = held.indexOf(0x0a); end >= 0; end = held.indexOf(0x0a)) {
        const line = parseRecord(held.subarray(0, end));
        held = held.subarray(end + 1);
        this.#offset += end + 1;
        if (line) yield line;
      }
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

export function parseRecord(record: Buffer): LogLine | null {
  const first = record.indexOf(0x20);
  const second = record.indexOf(0x20, first + 1);
  const third = record.indexOf(0x20, second + 1);
  if (first < 0 || second < 0 || third < 0) return null;
  const stream = record.toString('latin1', first + 1, second);
  const whole = record.toString('latin1', second + 1, third) === 'F';
  const content = record.subarray(third + 1);
  return {
    at: record.toString('latin1', 0, first),
    stream: stream === 'stderr' ? 'stderr' : 'stdout',
    bytes: whole ? Buffer.concat([content, Buffer.from('\n')]) : Buffer.from(content),
  };
}

/** Tells when something in a folder changed since it was last asked. */
class Changes {
  readonly #watcher: ReturnType<typeof watch>;
  #changed = false;
  #wake: (() => void) | null = null;

  constructor(folder: string, signal: AbortSignal | undefined) {
    this.#watcher = watch(folder, () => this.#notice());
    this.#watcher.on('error', () => this.#notice());
    signal?.addEventListener('abort', () => this.#notice());
  }

  #notice(): void {
    this.#changed = true;
    this.#wake?.();
  }

  async next(): Promise<void> {
    if (!this.#changed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#changed = false;
    this.#wake = null;
  }

  close(): void {
    this.#watcher.close();
  }
}
