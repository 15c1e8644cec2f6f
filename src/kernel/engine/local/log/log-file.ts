/**
 * Reads what conmon logged. When the file reaches its size limit conmon replaces it; `linkRotatedLogs` keeps the
 * earlier files by hard links.
 */
import { linkSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FolderChanges } from '../../../../lib/file/changes.ts';
import { isErrno } from '../../../../lib/file/file.ts';
import { Generations } from '../../../../lib/file/generations.ts';
import { generationNames, makeRoom } from '../../../../lib/file/rotate.ts';
import type { LogLine, LogOptions } from '../../engine.ts';
import { decodeRecord, Tail } from '../../log-record.ts';

export const logName = 'log';

/** conmon's file name, and the names of the kept files, newest first. */
function namesOf(files: number): string[] {
  return generationNames(logName, files + 1);
}

/** The path at which conmon makes the file that will replace the log. If a file exists there, conmon uses it. */
const nextName = `${logName}.tmp`;
/** A second link to that file: it is not lost when conmon replaces the log twice before `linkRotatedLogs` runs. */
const spareName = 'spare';

/**
 * log.1 is a second link to the current file until conmon replaces that; then it is the previous file, and is renamed.
 * Called at the start, when conmon has replaced the file, and before each read.
 */
export function linkRotatedLogs(bundle: string, files: number): void {
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
    // The log is gone or being replaced; the next call finds it, ignoring.
    if (!['ENOENT', 'EEXIST', 'ENOTDIR'].some((code) => isErrno(error, code))) throw error;
  }
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

function isThere(path: string): boolean {
  return inodeOf(path) !== undefined;
}

/** Reports the end of the process that writes a log. */
export interface LogWriterEnd {
  /** Whether no more output follows. */
  isOver(): Promise<boolean>;
  /** Settles when `isOver` may have changed, for an end that changes no file in the folder. */
  readonly change?: Promise<unknown>;
  /** Called when the reader has stopped. */
  close?(): void;
}

export async function* readLog(
  bundle: string,
  files: number,
  options: LogOptions,
  watchEnd: () => LogWriterEnd,
): AsyncGenerator<LogLine> {
  linkRotatedLogs(bundle, files);
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

/** Reads the output that is written after this promise has settled. */
export async function followLog(
  bundle: string,
  files: number,
  end: LogWriterEnd,
  signal: AbortSignal,
): Promise<AsyncIterable<LogLine>> {
  linkRotatedLogs(bundle, files);
  const { lines } = await lastPieces(() => new Generations(bundle, namesOf(files)), 0);
  return follow(bundle, files, lines, signal, end);
}

async function* pieces(lines: Generations): AsyncGenerator<LogLine> {
  for await (const record of lines.rest()) {
    const piece = record === null ? missing() : decodeRecord(record);
    if (piece) yield piece;
  }
}

/** The line in place of lost output: a reader gets it when it falls behind by more than all kept files. */
function missing(): LogLine {
  const text = 'carrel: output came faster than it was read; some of it is missing here\n';
  return { at: new Date().toISOString(), stream: 'stderr', bytes: Buffer.from(text) };
}

/**
 * Reads as many files as needed, from the newest: until there is one line more than wanted, since the first line may
 * have begun in an earlier file.
 */
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
  end: LogWriterEnd,
): AsyncGenerator<LogLine> {
  const changes = new FolderChanges(bundle, signal);
  const notice = () => changes.notice();
  end.change?.then(notice, notice);
  try {
    while (!signal?.aborted) {
      const last = await end.isOver();
      linkRotatedLogs(bundle, files);
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
