/** Turns changes into steps, on a model of the project after all earlier changes. Nothing is written. */
import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isRefusal, readBounded } from '../../../../lib/file/bounded-read.ts';
import { textOf } from '../../../../lib/text/text.ts';
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import { type FileChange, maxEditBytes, maxEditSteps } from '../../model/edit.ts';
import { maxFileBytes } from '../../model/spoke.ts';
import { bytesOf, edited, hashOf, tooLarge } from '../file/content.ts';
import { realNames } from '../file/path.ts';
import type { Step } from './journal.ts';
import { editedRanges } from './range-edit.ts';

/** New content of a step. */
export interface StagedContent {
  readonly bytes: Buffer;
  readonly mode: number;
  /** Null: a new file. */
  readonly before: Buffer | null;
}

/** What is at a path after the changes so far. */
interface Entry {
  readonly kind: 'file' | 'folder' | 'other';
  readonly mode: number;
  /** Its path on disk before the edit; null: this edit creates it. */
  readonly disk: string | null;
  /** The step that stages its content. */
  readonly step: number | null;
}

export class EditPlan {
  readonly steps: Step[] = [];
  readonly staged = new Map<number, StagedContent>();
  readonly #root: string;
  /** By path; null: removed by the edit. A path that is not in the map is as on disk. */
  readonly #entries = new Map<string, Entry | null>();
  #bytes = 0;

  constructor(root: string) {
    this.#root = root;
  }

  add(change: FileChange): void {
    if (change.kind === 'edit') this.#edit(change);
    else if (change.kind === 'create') this.#create(change);
    else if (change.kind === 'rename') this.#rename(change);
    else this.#delete(change);
  }

  #edit({ path, edits, expectedHash }: FileChange & { kind: 'edit' }): void {
    const where = this.#where(path, true);
    const entry = this.#required(where);
    const before = this.#content(where, entry);
    this.#checkHash(where, entry, expectedHash);
    const text = textOf(before);
    if (text === null) throw new Fault('invalid', `${printable(where)} is not text, so it cannot be edited`);
    const ranges = edits.filter((one) => 'startColumn' in one);
    const others = edits.filter((one) => !('startColumn' in one));
    if (ranges.length > 0 && others.length > 0)
      throw new Fault('invalid', `${printable(where)} has edits of different kinds`, { hint: 'Use one kind a file.' });
    const after = ranges.length > 0 ? editedRanges(text, ranges, where) : edited(text, others, where);
    this.#write(where, entry, before, Buffer.from(after));
  }

  #create({ path, content, overwrite }: FileChange & { kind: 'create' }): void {
    const where = this.#where(path, false);
    const entry = this.#look(where);
    const bytes = bytesOf(content);
    if (entry === null) {
      this.#makeFolders(where);
      const step = this.#stage(
        { act: 'create', path: where, hash: hashOf(bytes) },
        { bytes, mode: 0o644, before: null },
      );
      this.#entries.set(where, { kind: 'file', mode: 0o644, disk: null, step });
    } else if (overwrite) this.#write(where, entry, this.#content(where, entry), bytes);
    else throw exists(where);
  }

  #write(path: string, entry: Entry, before: Buffer, bytes: Buffer): void {
    if (before.equals(bytes)) return;
    if (entry.step !== null) {
      this.#restage(entry.step, bytes);
      return;
    }
    const { mode } = entry;
    const hashes = { hash: hashOf(bytes), wasHash: hashOf(before) };
    const step = this.#stage({ act: 'write', path, ...hashes }, { bytes, mode, before });
    this.#entries.set(path, { ...entry, step });
  }

  #delete({ path, recursive, expectedHash }: FileChange & { kind: 'delete' }): void {
    const where = this.#where(path, false);
    const entry = this.#required(where);
    this.#checkHash(where, entry, expectedHash);
    if (entry.kind === 'folder' && !recursive && this.#children(where, entry).length > 0) {
      throw new Fault('conflict', `${printable(where)} is a folder with files in it`, {
        hint: 'Use recursive to remove them.',
      });
    }
    this.#remove(where, entry);
  }

  #remove(path: string, entry: Entry): void {
    if (entry.kind === 'folder') {
      for (const child of this.#children(path, entry)) this.#remove(child, this.#required(child));
      this.#push({ act: 'removeFolder', path, mode: entry.mode });
    } else this.#push({ act: 'remove', path, wasHash: this.#hash(path, entry) });
    this.#entries.set(path, null);
  }

  #rename({ path, to, overwrite }: FileChange & { kind: 'rename' }): void {
    const from = this.#where(path, false);
    const target = this.#where(to, false);
    const entry = this.#required(from);
    if (target === from || target.startsWith(`${from}/`))
      throw new Fault('invalid', `${printable(from)} cannot be moved to ${printable(target)}`);
    const there = this.#look(target);
    if (there !== null && (!overwrite || there.kind === 'folder')) throw exists(target);
    if (there !== null) this.#remove(target, there);
    this.#makeFolders(target);
    this.#move(from, target, entry);
  }

  /** Moves file by file, because a folder of an overlay cannot be renamed as a whole. */
  #move(from: string, to: string, entry: Entry): void {
    if (entry.kind === 'folder') {
      this.#push({ act: 'makeFolder', path: to, mode: entry.mode });
      this.#entries.set(to, { ...entry, disk: null });
      for (const child of this.#children(from, entry))
        this.#move(child, to + child.slice(from.length), this.#required(child));
      this.#push({ act: 'removeFolder', path: from, mode: entry.mode });
    } else {
      this.#push({ act: 'move', path: from, to });
      this.#entries.set(to, entry);
    }
    this.#entries.set(from, null);
  }

  #makeFolders(path: string): void {
    const names = path.split('/').slice(0, -1);
    for (const [index] of names.entries()) {
      const folder = names.slice(0, index + 1).join('/');
      const entry = this.#look(folder);
      if (entry === null) {
        this.#push({ act: 'makeFolder', path: folder, mode: 0o755 });
        this.#entries.set(folder, { kind: 'folder', mode: 0o755, disk: null, step: null });
      } else if (entry.kind !== 'folder') {
        throw new Fault('invalid', `${printable(path)} is not below a folder`);
      }
    }
  }

  /** The path without links; one that leaves the project is refused. */
  #where(path: string, follow: boolean): string {
    const plain = realNames(this.#root, path, false).join('/');
    if (plain === '') throw new Fault('invalid', 'the project itself cannot be changed');
    if (!follow || this.#entries.has(plain)) return plain;
    return realNames(this.#root, path, true).join('/');
  }

  #required(path: string): Entry {
    const entry = this.#look(path);
    if (entry === null) throw new Fault('not_found', `${printable(path)} does not exist`);
    return entry;
  }

  #look(path: string): Entry | null {
    const known = this.#entries.get(path);
    if (known !== undefined) return known;
    const stat = lstatSync(join(this.#root, path), { throwIfNoEntry: false });
    if (!stat) return null;
    const kind = stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : 'other';
    return { kind, mode: stat.mode & 0o777, disk: path, step: null };
  }

  #children(path: string, { disk }: Entry): string[] {
    const here = disk === null ? [] : entriesOf(join(this.#root, path)).map(({ name }) => `${path}/${name}`);
    const made = [...this.#entries.keys()].filter((one) => one.slice(0, one.lastIndexOf('/')) === path);
    return [...new Set([...here, ...made])].filter((one) => this.#look(one) !== null).sort();
  }

  #content(path: string, { kind, disk, step }: Entry): Buffer {
    if (kind !== 'file') throw new Fault('invalid', `${printable(path)} is not a file`);
    return step === null ? this.#onDisk(disk!) : this.staged.get(step)!.bytes;
  }

  #onDisk(path: string): Buffer {
    try {
      const found = readBounded(join(this.#root, path), maxFileBytes);
      if (found !== null) return found.bytes;
    } catch (error) {
      if (isRefusal(error, 'too_large')) throw tooLarge(path);
      if (!isRefusal(error, 'not_regular') && !isRefusal(error, 'link')) throw error;
    }
    throw new Fault('conflict', `${printable(path)} was changed meanwhile`, { hint: 'Try again.' });
  }

  /** Hash of the content before this step; null: the content is not compared. */
  #hash(path: string, entry: Entry): string | null {
    if (entry.kind !== 'file') return null;
    if (entry.step === null && lstatSync(join(this.#root, entry.disk!)).size > maxFileBytes) return null;
    return hashOf(this.#content(path, entry));
  }

  /** The client's hash is compared with the content before this edit. */
  #checkHash(path: string, entry: Entry, expected: string | undefined): void {
    if (expected === undefined) return;
    if (entry.kind === 'file' && entry.disk !== null && hashOf(this.#onDisk(entry.disk)) === expected) return;
    throw new Fault('conflict', `${printable(path)} is not as it was when it was read`, { hint: 'Read it again.' });
  }

  #stage(step: Step, staged: StagedContent): number {
    const index = this.#push(step);
    this.staged.set(index, staged);
    this.#count(step.path, staged.bytes, 0);
    return index;
  }

  #restage(index: number, bytes: Buffer): void {
    const step = this.steps[index] as Step & { act: 'write' | 'create' };
    const staged = this.staged.get(index)!;
    this.#count(step.path, bytes, staged.bytes.length);
    this.steps[index] = { ...step, hash: hashOf(bytes) };
    this.staged.set(index, { ...staged, bytes });
  }

  #count(path: string, { length }: Buffer, before: number): void {
    if (length > maxFileBytes) throw tooLarge(path);
    this.#bytes += length - before;
    if (this.#bytes > maxEditBytes) throw new Fault('exhausted', `the edit writes more than ${maxEditBytes} bytes`);
  }

  #push(step: Step): number {
    if (this.steps.length >= maxEditSteps)
      throw new Fault('exhausted', `the edit changes more than ${maxEditSteps} files and folders`);
    return this.steps.push(step) - 1;
  }
}

function entriesOf(folder: string): Dirent[] {
  return readdirSync(folder, { withFileTypes: true });
}

function exists(path: string): Fault {
  return new Fault('conflict', `${printable(path)} exists already`);
}
