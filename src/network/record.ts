/**
 * The record of what a sandbox tried: one JSON object a line, in a file that no sandbox can write. Each attempt is
 * written down when it is decided, and once more when it ends. Two files of bounded size take turns, so the oldest go.
 */
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Refusal } from '../model/network.ts';

export type Via = 'connect' | 'http' | 'socks' | 'credential' | 'service' | 'proxy';

/** An attempt, decided. */
export interface Attempted {
  readonly at: string;
  /** Tells it from all others of this sandbox. */
  readonly attempt: string;
  readonly via: Via;
  /** HOST:PORT in its one spelling, or what was asked for as it came. */
  readonly asked: string;
  readonly decision: 'allow' | 'refuse';
  readonly rule: string | null;
  readonly address: string | null;
  readonly refusal: Refusal | null;
  readonly reason: string | null;
}

/** How one that was allowed went on. */
export interface Ended {
  readonly at: string;
  readonly attempt: string;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly durationMs: number;
  /** Null: both sides were done. */
  readonly reason: string | null;
}

export type RecordLine = Attempted | Ended;

export const recordFiles = { current: 'network.ndjson', previous: 'network.1.ndjson' } as const;
const maxFileBytes = 2 * 1024 * 1024;
const maxTextLength = 300;

/** The writer's side. */
export class RecordFile {
  readonly #folder: string;
  #fd: number | null = null;
  #bytes = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** On its way to the disk when it returns: a death of this process does not lose it. */
  write(line: RecordLine): void {
    const text = Buffer.from(`${JSON.stringify(line, bounded)}\n`);
    if (this.#fd !== null && this.#bytes + text.length > maxFileBytes) this.#rotate();
    this.#fd ??= this.#open();
    this.#bytes += writeSync(this.#fd, text);
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  #rotate(): void {
    this.close();
    renameSync(join(this.#folder, recordFiles.current), join(this.#folder, recordFiles.previous));
  }

  #open(): number {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const fd = openSync(join(this.#folder, recordFiles.current), 'a', 0o600);
    this.#bytes = fstatSync(fd).size;
    return fd;
  }
}

/** What came from inside may be as long as it likes. */
function bounded(_: string, value: unknown): unknown {
  return typeof value === 'string' && value.length > maxTextLength ? `${value.slice(0, maxTextLength)}…` : value;
}
