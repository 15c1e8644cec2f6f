/**
 * The output of earlier starts of a sandbox. An engine has the output of the last start only, so before the next start
 * that is copied into the folder of the sandbox, one file per start. The oldest files are removed when there is too
 * much.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogLimits, LogLine } from '../../../kernel/engine/engine.ts';
import { decodeRecord, encodeRecord, Tail } from '../../../kernel/engine/log-record.ts';
import { isErrno, syncFolder } from '../../../lib/file/file.ts';
import { Generations } from '../../../lib/file/generations.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';

const maxStarts = 100;
const chunkBytes = 256 * 1024;
const namePattern = /^\d{8}$/;

export class EarlierOutput {
  readonly #folder: string;
  readonly #maxBytes: number;

  constructor(sandboxFolder: string, { maxBytes, files }: LogLimits) {
    this.#folder = join(sandboxFolder, 'output');
    this.#maxBytes = maxBytes * files;
  }

  get isEmpty(): boolean {
    return this.#names().length === 0;
  }

  /** Keeps the output of an attempt once, and completely or not at all. */
  async keep(attempt: number, lines: AsyncIterable<LogLine>): Promise<void> {
    const name = String(attempt).padStart(8, '0');
    if (this.#names().includes(name)) return;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const fresh = join(this.#folder, `${name}.new`);
    const file = await open(fresh, 'w', 0o600);
    try {
      await writeLines(file, lines);
      await file.sync();
    } finally {
      await file.close();
    }
    crashPoint('output:copied');
    if (statSync(fresh).size === 0) return rmSync(fresh);
    renameSync(fresh, join(this.#folder, name));
    syncFolder(this.#folder);
    this.#prune();
  }

  /** The newest file stays, however large. */
  #prune(): void {
    let bytes = 0;
    this.#names()
      .reverse()
      .forEach((name, age) => {
        bytes += statSync(join(this.#folder, name)).size;
        if (age > 0 && (bytes > this.#maxBytes || age >= maxStarts)) rmSync(join(this.#folder, name));
      });
  }

  /** All output, or its last lines. If a start left its last line unfinished, a newline is added. */
  async *read(tail: number | null): AsyncGenerator<LogLine> {
    if (tail === null) return yield* this.#pieces();
    const last = new Tail(tail);
    for await (const piece of this.#pieces()) last.push(piece);
    yield* last.lines().flat();
  }

  async *#pieces(): AsyncGenerator<LogLine> {
    for (const name of this.#names()) {
      let piece: LogLine | null = null;
      for await (const record of new Generations(this.#folder, [name]).rest()) {
        piece = record && decodeRecord(record);
        if (piece) yield piece;
      }
      if (piece && piece.bytes.at(-1) !== 0x0a) yield { ...piece, bytes: Buffer.from('\n') };
    }
  }

  #names(): string[] {
    try {
      return readdirSync(this.#folder)
        .filter((name) => namePattern.test(name))
        .sort();
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return [];
      throw error;
    }
  }
}

async function writeLines(file: FileHandle, lines: AsyncIterable<LogLine>): Promise<void> {
  let held: Buffer[] = [];
  let bytes = 0;
  const flush = async () => {
    await file.appendFile(Buffer.concat(held));
    [held, bytes] = [[], 0];
  };
  for await (const line of lines) {
    const record = encodeRecord(line);
    held.push(record);
    bytes += record.length;
    if (bytes >= chunkBytes) await flush();
  }
  await flush();
}
