/**
 * Reads what conmon logged. When the file reaches its size limit conmon replaces it with a new one; `keepEarlier` holds on
 * to those before by hard links.
 */
import { linkSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Changes } from '../../lib/changes.ts';
import { isErrno } from '../../lib/file.ts';
import { Generations } from '../../lib/generations.ts';
import { generationNames, makeRoom } from '../../lib/rotate.ts';
import type { LogLine, LogOptions } from '../engine.ts';
import { decodeRecord, Tail } from '../log-record.ts';

export const logName = 'log';

/** conmon's own name, and those by which so many files are kept, the newest first. */
function namesOf(files: number): string[] {
  return generationNames(logName, files + 1);
}

/** Where conmon makes the file that is to replace the log. It takes one that is there already. */
const nextName = `${logName}.tmp`;
/** Another name of that file, so that it is not lost either when conmon replaces the log twice before anybody looks. */
const spareName = 'spare';

/**
 * log.1 is another name of the current file until conmon replaces that; then it is the file before, and moves on. Called at
 * the start, when conmon has replaced the file, and whenever somebody looks.
 */
export function keepEarlier(bundle: string, files: number): void {
  const [current, ...kept] = namesOf(files).map((name) => join(bundle, name)) as [string, ...string[]];
  const [next, spare] = [join(bundle, nextName), join(bundle, spareName)];
  try {
    statSync(current);
    if (isThere(spare) && inodeOf(spare) !== inodeOf(next)) {
      makeRoom(kept);
      renameSync(spare, kept[0]!);
    }
    if (inodeOf(current) !== inodeOf(kept[0]!)) {
      makeRoom(kept);
      linkSync(current, kept[0]!);
    }
    if (!isThere(spare)) {
      writeFileSync(spare, '', { mode: 0o600, flag: 'wx' });
      linkSync(spare, next);
    }
  } catch (error) {
    // The log is gone or is being replaced at this moment; the next look finds it, ignoring.
    if (!['ENOENT', 'EEXIST', 'ENOTDIR'].some((code) => isErrno(error, code))) throw error;
  }
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

function isThere(path: string): boolean {
  return inodeOf(path) !== undefined;
}

/** Of whoever writes a log. */
export interface LogEnd {
  /** Whether nothing more will be written. */
  isOver(): Promise<boolean>;
  /** Settles when that may have changed, where no file in the folder changes with it. */
  readonly change?: Promise<unknown>;
  /** Nobody wants to know any more. */
  close?(): void;
}

export async function* readLog(
  bundle: string,
  files: number,
  options: LogOptions,
  watchEnd: () => LogEnd,
): AsyncGenerator<LogLine> {
  keepEarlier(bundle, files);
  const names = namesOf(files);
  let lines = new Generations(bundle, names);
  if (options.tail !== null) {
    const last = await lastPieces(() => new Generations(bundle, names), options.tail);
    lines = last.lines;
    yield* last.pieces;
  }
  if (options.follow) yield* follow(bundle, files, lines, options.signal, watchEnd());
  else if (options.tail === null) yield* pieces(lines);
}

/** What is written from now on, as soon as this has settled. */
export async function followLog(
  bundle: string,
  files: number,
  end: LogEnd,
  signal: AbortSignal,
): Promise<AsyncIterable<LogLine>> {
  keepEarlier(bundle, files);
  const { lines } = await lastPieces(() => new Generations(bundle, namesOf(files)), 0);
  return follow(bundle, files, lines, signal, end);
}

async function* pieces(lines: Generations): AsyncGenerator<LogLine> {
  for await (const record of lines.rest()) {
    const piece = record === null ? missing() : decodeRecord(record);
    if (piece) yield piece;
  }
}

/** Only whoever reads more slowly than the sandbox writes, for as long as several files last, gets to see this. */
function missing(): LogLine {
  const text = 'carrel: output came faster than it was read; some of it is missing here\n';
  return { at: new Date().toISOString(), stream: 'stderr', bytes: Buffer.from(text) };
}

/** From the newest file alone where that has enough: one line more than wanted, since the first may have begun before. */
async function lastPieces(open: () => Generations, count: number): Promise<{ lines: Generations; pieces: LogLine[] }> {
  for (let newest = 1; ; newest += 1) {
    const lines = open();
    const all = newest >= lines.count;
    lines.passOver(newest);
    const tail = new Tail(count + 1);
    for await (const piece of pieces(lines)) tail.push(piece);
    const found = tail.lines();
    if (all || found.length > count) return { lines, pieces: count === 0 ? [] : found.slice(-count).flat() };
  }
}

async function* follow(
  bundle: string,
  files: number,
  lines: Generations,
  signal: AbortSignal | undefined,
  end: LogEnd,
): AsyncGenerator<LogLine> {
  const changes = new Changes(bundle, signal);
  const notice = () => changes.notice();
  end.change?.then(notice, notice);
  try {
    while (!signal?.aborted) {
      const last = await end.isOver();
      keepEarlier(bundle, files);
      for await (const piece of pieces(lines)) {
        yield piece;
        if (signal?.aborted) return;
      }
      if (last) return;
      await changes.next();
    }
  } finally {
    changes.close();
    end.close?.();
  }
}
