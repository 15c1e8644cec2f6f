/** The copies of the sessions of one sandbox: a folder with one log for each. */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder, writeWhole } from '../../lib/file/file.ts';
import { Fault } from '../../model/fault.ts';
import { ulidPattern } from '../../model/ulid.ts';
import { type SessionEvent, sessionLimits } from './model/session.ts';
import type { CopiedSession, SessionCopies } from './session.ts';
import { requireFirst, SessionCopy } from './session-copy.ts';

const logEnd = '.ndjson';
const removedEnd = '.removed';

export class FolderCopies implements SessionCopies {
  readonly #folder: string;
  readonly #copies = new Map<string, Promise<SessionCopy>>();
  readonly #open = new Map<string, SessionCopy>();
  readonly #removed = new Set<string>();

  static async open(folder: string): Promise<FolderCopies> {
    const copies = new FolderCopies(folder);
    const names = existsSync(folder) ? readdirSync(folder).sort() : [];
    for (const id of idsOf(names, removedEnd)) copies.#removed.add(id);
    for (const id of idsOf(names, logEnd)) await copies.#find(id);
    return copies;
  }

  private constructor(folder: string) {
    this.#folder = folder;
  }

  list(): readonly CopiedSession[] {
    const found = [...this.#open.values()].filter(({ fold }) => fold.seq > 0);
    return found.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  find(id: string): CopiedSession | null {
    const found = this.#open.get(id);
    return found !== undefined && found.fold.seq > 0 ? found : null;
  }

  async append(id: string, line: string): Promise<SessionEvent | null> {
    if (this.#removed.has(id)) return null;
    const open = this.#open.get(id);
    if (open !== undefined) return open.append(line);
    // The line is checked before the file is created, so that a refused line leaves no file.
    if (!this.#copies.has(id)) requireFirst(id, line);
    return (await this.#opened(id)).append(line);
  }

  async settle(): Promise<void> {
    for (const copy of this.#open.values()) await copy.settle();
  }

  get removed(): readonly string[] {
    return [...this.#removed];
  }

  /** The note of the removal is written first: after a crash, the next open removes the log. */
  async remove(id: string): Promise<void> {
    writeWhole(this.#path(id, removedEnd), '');
    this.#removed.add(id);
    const copy = await this.#copies.get(id);
    this.#copies.delete(id);
    this.#open.delete(id);
    await copy?.close();
    rmSync(this.#path(id, logEnd), { force: true });
  }

  async forget(id: string): Promise<void> {
    rmSync(this.#path(id, logEnd), { force: true });
    rmSync(this.#path(id, removedEnd), { force: true });
    syncFolder(this.#folder);
    this.#removed.delete(id);
  }

  async close(): Promise<void> {
    for (const copy of await Promise.all(this.#copies.values())) await copy.close();
  }

  /** A crash may leave a log that was removed, or that has no event yet. */
  async #find(id: string): Promise<void> {
    const path = this.#path(id, logEnd);
    if (this.#removed.has(id) || statSync(path).size === 0) rmSync(path, { force: true });
    else await this.#opened(id);
  }

  #opened(id: string): Promise<SessionCopy> {
    const known = this.#copies.get(id);
    if (known !== undefined) return known;
    if (this.#copies.size >= sessionLimits.sessions)
      throw new Fault('exhausted', `the sandbox has ${sessionLimits.sessions} sessions already`, {
        hint: 'Remove one: carrel session rm SANDBOX --session ID',
      });
    if (!existsSync(this.#folder)) mkdirSync(this.#folder, { mode: 0o700 });
    const opening = SessionCopy.open(this.#path(id, logEnd), id);
    this.#copies.set(id, opening);
    opening.then(
      (copy) => this.#open.set(id, copy),
      () => this.#copies.delete(id),
    );
    return opening;
  }

  #path(id: string, end: string): string {
    return join(this.#folder, `${id}${end}`);
  }
}

function idsOf(names: readonly string[], end: string): string[] {
  const ids = names.filter((name) => name.endsWith(end)).map((name) => name.slice(0, -end.length));
  return ids.filter((id) => ulidPattern.test(id));
}
