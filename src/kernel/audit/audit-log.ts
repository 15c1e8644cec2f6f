/** The audit log in a folder: `audit.log`, the ones before it, and `unfinished`. */

import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { AppendFile } from '../../lib/file/append-file.ts';
import { FolderChanges } from '../../lib/file/changes.ts';
import { lastText, readIfThere, syncFolder, writeWhole } from '../../lib/file/file.ts';
import { Generations } from '../../lib/file/generations.ts';
import { NoteFile } from '../../lib/file/note-file.ts';
import { generationNames, rotate } from '../../lib/file/rotate.ts';
import { crashPoint } from '../../lib/flow/crash-point.ts';
import { asFault, Fault, spaceHint } from '../../model/fault.ts';
import type { Act, Audit, AuditEntry, AuditReadOptions, Detail, OpenAct } from './audit.ts';

export interface AuditOptions {
  readonly folder: string;
  readonly maxBytes: number;
  readonly files: number;
  readonly now: () => string;
  readonly report: (fault: Fault) => void;
}

/** The interval of syncs: a power cut loses the lines of at most this time. */
const syncMs = 1000;
/** The maximum number of lines in memory that wait for space. */
const maxOwed = 1000;
const maxUnfinishedBytes = 1024 * 1024;
/** The space that is reserved for acts on a full disk: about two hundred lines, and notes of fifty at a time. */
const kept = { logBytes: 64 * 1024, noteBytes: 16 * 1024 };
const logName = 'audit.log';
const unfinishedName = 'unfinished';

type Unfinished = Act & Pick<AuditEntry, 'id' | 'at'>;

export function openAudit(options: AuditOptions): Audit {
  mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  return new AuditLog(options);
}

class AuditLog implements Audit {
  readonly #options: AuditOptions;
  readonly #names: readonly string[];
  readonly #open = new Map<string, Unfinished>();
  #unfinished: NoteFile;
  #log: AppendFile;
  #seq: number;
  #owed: Omit<AuditEntry, 'seq'>[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(options: AuditOptions) {
    const { folder, files } = options;
    this.#options = options;
    this.#names = generationNames(logName, files);
    this.#log = new AppendFile(join(folder, logName));
    this.#log.keepSpace(kept.logBytes);
    this.#seq = this.#lastSeq();
    const unfinished = this.#leftUnfinished();
    this.#unfinished = new NoteFile(join(folder, unfinishedName), kept.noteBytes);
    for (const act of unfinished) this.#write({ ...act, outcome: 'cut_short' });
    if (this.#owed.length === 0) this.#unfinished.clear();
  }

  begin(act: Act, frees = false): OpenAct {
    const unfinished: Unfinished = { id: randomBytes(8).toString('hex'), at: this.#options.now(), ...act };
    this.#note(unfinished, frees);
    crashPoint('audit:begun');
    return {
      end: (outcome, { targets = act.targets, detail } = {}) => {
        if (!this.#open.has(unfinished.id)) return;
        crashPoint('audit:done');
        this.#write({ ...unfinished, at: this.#options.now(), targets, outcome, ...detailOf(detail) });
        crashPoint('audit:written');
        this.#forget(unfinished.id);
      },
    };
  }

  #note(unfinished: Unfinished, frees: boolean): void {
    this.#open.set(unfinished.id, unfinished);
    try {
      if (this.#unfinished.size > maxUnfinishedBytes) this.#rewriteUnfinished();
      else this.#unfinished.append(encodeLine(unfinished));
    } catch (error) {
      if (frees) return;
      this.#open.delete(unfinished.id);
      throw new Fault('exhausted', `the audit log cannot be written: ${asFault(error).message}`, {
        cause: error,
        hint: spaceHint,
      });
    }
  }

  /** Shortens the file of notes while an act takes long: all acts that have ended since have a line. */
  #rewriteUnfinished(): void {
    const path = join(this.#options.folder, unfinishedName);
    writeWhole(path, [...this.#open.values()].map(encodeLine).join(''));
    this.#unfinished.close();
    this.#unfinished = new NoteFile(path, kept.noteBytes);
  }

  /** Clears the notes only when no line waits in memory: until then the note of an act is its only record on disk. */
  #forget(id: string): void {
    this.#open.delete(id);
    if (this.#open.size === 0 && this.#owed.length === 0 && this.#unfinished.size > 0) this.#unfinished.clear();
  }

  #write(entry: Omit<AuditEntry, 'seq'>): void {
    this.#owed.push(entry);
    try {
      for (let next = this.#owed[0]; next; next = this.#owed[0]) {
        this.#append({ seq: this.#seq + 1, ...next });
        this.#owed.shift();
        this.#seq += 1;
      }
    } catch (error) {
      this.#owed = this.#owed.slice(-maxOwed);
      this.#options.report(asFault(error));
    }
  }

  #append(entry: AuditEntry): void {
    const line = encodeLine(entry);
    const isFull = this.#log.size > 0 && this.#log.size + line.length > this.#options.maxBytes;
    if (isFull || this.#log.isGone) this.#rotate();
    this.#log.append(line);
    this.#timer ??= setTimeout(() => this.#syncNow(), syncMs).unref();
  }

  #syncNow(): void {
    this.#timer = null;
    this.#log.keepSpace(kept.logBytes);
    this.#log.sync();
  }

  /** Creates the next file before this one is renamed; if there is no room for it, this one stays in use. */
  #rotate(): void {
    const path = join(this.#options.folder, logName);
    const next = this.#nextLog(`${path}.next`);
    if (next === null) return;
    this.#log.close();
    this.#log = next;
    rotate(path, this.#options.files);
    renameSync(`${path}.next`, path);
    syncFolder(this.#options.folder);
  }

  #nextLog(path: string): AppendFile | null {
    try {
      const next = new AppendFile(path);
      next.keepSpace(kept.logBytes);
      return next;
    } catch (error) {
      if (this.#log.isGone) throw error;
      return null;
    }
  }

  flush(): void {
    this.#log.flush();
  }

  async *read({ after, follow, signal }: AuditReadOptions): AsyncGenerator<AuditEntry> {
    const lines = new Generations(this.#options.folder, this.#names);
    const changes = follow ? new FolderChanges(this.#options.folder, signal) : null;
    let last = after;
    try {
      while (!signal?.aborted) {
        for await (const line of lines.rest()) {
          const entry = line && decodeLine(line);
          if (entry === null || entry.seq <= last) continue;
          last = entry.seq;
          yield entry;
          if (signal?.aborted) return;
        }
        if (changes === null) return;
        await changes.next();
      }
    } finally {
      changes?.close();
    }
  }

  /** The seq of the last entry, from the newest file that has one. */
  #lastSeq(): number {
    for (const path of this.#paths()) {
      const seq = linesOf(lastText(path)).at(-1)?.seq;
      if (seq !== undefined) return seq;
    }
    return 0;
  }

  #leftUnfinished(): Unfinished[] {
    const left = linesOf<Unfinished>(readIfThere(join(this.#options.folder, unfinishedName)) ?? '');
    if (left.length === 0) return [];
    const written = new Set(this.#paths().flatMap((path) => linesOf(readIfThere(path) ?? '').map(({ id }) => id)));
    return left.filter(({ id }) => !written.has(id));
  }

  #paths(): string[] {
    return this.#names.map((name) => join(this.#options.folder, name));
  }
}

function detailOf(detail: Detail = {}): Pick<AuditEntry, 'detail'> {
  return Object.keys(detail).length === 0 ? {} : { detail };
}

function linesOf<T = AuditEntry>(text: string): T[] {
  return text.split('\n').flatMap((line) => decodeLine<T>(line) ?? []);
}

const maxText = 256;
const maxItems = 64;

/** An entry as one line. */
function encodeLine(value: object): string {
  return `${JSON.stringify(bounded(value)).replace(/[^\x20-\x7e]/g, escaped)}\n`;
}

/** Null: not an entry, or a part of one. */
function decodeLine<T = AuditEntry>(line: Buffer | string): T | null {
  try {
    const value: unknown = JSON.parse(line.toString());
    return typeof value === 'object' && value !== null && 'id' in value ? (value as T) : null;
  } catch {
    return null;
  }
}

/** Bounds the length of a line: names and paths come from users. */
function bounded(value: unknown): unknown {
  if (typeof value === 'string') return value.length > maxText ? `${value.slice(0, maxText)}…` : value;
  if (Array.isArray(value)) {
    const items = value.slice(0, maxItems).map(bounded);
    return value.length > maxItems ? [...items, `… and ${value.length - maxItems} more`] : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, bounded(item)]));
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
