/**
 * The record of a sandbox's attempts: one JSON object per line, in a file that no sandbox can write. Each attempt is
 * recorded when it is decided, and again when it ends. Files have a bounded size and are rotated; the oldest is removed.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AppendFile } from '../../lib/file/append-file.ts';
import { FolderChanges } from '../../lib/file/changes.ts';
import { Generations } from '../../lib/file/generations.ts';
import { generationNames, rotate } from '../../lib/file/rotate.ts';
import type { NetworkRefusal } from './model/network.ts';

export type ConnectionVia = 'connect' | 'http' | 'socks' | 'credential' | 'service';

/** An attempt, decided. */
export interface Attempted {
  readonly at: string;
  /** Unique among the attempts of this sandbox. */
  readonly attempt: string;
  readonly via: ConnectionVia;
  /** HOST:PORT in canonical spelling, or the text of the request. */
  readonly asked: string;
  readonly decision: 'allow' | 'refuse';
  readonly rule: string | null;
  readonly address: string | null;
  readonly refusal: NetworkRefusal | null;
  readonly reason: string | null;
}

/** The end of an attempt that was allowed. */
export interface EndedAttempt {
  readonly at: string;
  readonly attempt: string;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly durationMs: number;
  /** Null: both sides ended it. */
  readonly reason: string | null;
}

/** A refused attempt is decided and ended in one line. */
export type RecordLine = Attempted | EndedAttempt | (Attempted & EndedAttempt);

const fileName = 'network.ndjson';
const files = 3;
const maxFileBytes = 2 * 1024 * 1024;
const maxTextLength = 300;

/** Writes the record. */
export class RecordFile {
  readonly #folder: string;
  #file: AppendFile | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Appends a line. It is written when the call returns, so that a crash of this process does not lose it. */
  write(line: RecordLine): void {
    const text = `${JSON.stringify(line, bounded)}\n`;
    if (this.#file !== null && this.#file.size + text.length > maxFileBytes) this.#rotate();
    this.#file ??= this.#open();
    this.#file.append(text);
  }

  close(): void {
    this.#file?.release();
    this.#file = null;
  }

  #rotate(): void {
    this.close();
    rotate(join(this.#folder, fileName), files);
  }

  #open(): AppendFile {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    return new AppendFile(join(this.#folder, fileName));
  }
}

/** Cuts long text, since text from inside can have any length. */
function bounded(_: string, value: unknown): unknown {
  return typeof value === 'string' && value.length > maxTextLength ? `${value.slice(0, maxTextLength)}…` : value;
}

export interface RecordReadOptions {
  readonly follow: boolean;
  /** The number of last lines to read; null: all that are kept. */
  readonly tail: number | null;
  readonly signal: AbortSignal;
}

/** Reads the record: the lines so far, and with `follow` later ones. */
export async function* readRecord(
  folder: string,
  { follow, tail, signal }: RecordReadOptions,
): AsyncGenerator<RecordLine> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const changes = follow ? new FolderChanges(folder, signal) : null;
  try {
    const generations = new Generations(folder, generationNames(fileName, files));
    yield* tail === null ? parsed(generations) : last(parsed(generations), tail);
    while (changes && !signal.aborted) {
      await changes.next();
      yield* parsed(generations);
    }
  } finally {
    changes?.close();
  }
}

/** Parses lines and skips a line that a crash tore. */
async function* parsed(generations: Generations): AsyncGenerator<RecordLine> {
  for await (const line of generations.rest()) {
    if (line === null) continue;
    try {
      yield JSON.parse(line.toString()) as RecordLine;
    } catch {
      // Half a line, ignoring.
    }
  }
}

async function* last(lines: AsyncGenerator<RecordLine>, count: number): AsyncGenerator<RecordLine> {
  const kept: RecordLine[] = [];
  for await (const line of lines) {
    kept.push(line);
    if (kept.length > count) kept.shift();
  }
  yield* kept;
}
