/**
 * `session.json` and `messages.json`: the state that follows from the log, for programs that read files. They are
 * written whole, soon after a change and at the end of each turn.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../../../../lib/file/file.ts';
import type { SessionFold } from '../../model/session-fold.ts';

const delayMs = 500;
/** Writing takes at most a tenth of the time, so large views are written less often. */
const share = 10;

export class SessionViews {
  readonly #id: string;
  readonly #folder: string;
  readonly #fold: SessionFold;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();
  #writtenSeq = 0;
  #lastMs = 0;

  constructor(id: string, folder: string, fold: SessionFold) {
    this.#id = id;
    this.#folder = folder;
    this.#fold = fold;
  }

  /** Schedules a write after a change. */
  touch(): void {
    this.#timer ??= setTimeout(() => void this.flush(), Math.max(delayMs, share * this.#lastMs)).unref();
  }

  /** Resolves when both files have the present state. A view that cannot be written is written with the next change, ignoring. */
  flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#writing = this.#writing.then(() => this.#write()).catch(() => {});
    return this.#writing;
  }

  /** Sets damaged files aside. Resolves to a note on each file that is damaged or missing. */
  async check(): Promise<string[]> {
    const isObject = (value: unknown) => (value as { sessionId?: unknown } | null)?.sessionId === this.#id;
    const notes = [
      await this.#checkFile('session.json', isObject),
      await this.#checkFile('messages.json', Array.isArray),
    ];
    return notes.filter((note) => note !== null);
  }

  async #checkFile(name: string, isWhole: (value: unknown) => boolean): Promise<string | null> {
    const path = join(this.#folder, name);
    try {
      if (isWhole(JSON.parse(await readFile(path, 'utf8')))) return null;
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return `${name} was missing and was made again from the log.`;
    }
    const aside = `damaged-${name}-${Date.now()}`;
    await rename(path, join(this.#folder, aside));
    return `${name} was damaged: it is now ${aside}, and was made again from the log.`;
  }

  async #write(): Promise<void> {
    const { seq } = this.#fold;
    if (seq === this.#writtenSeq) return;
    const started = performance.now();
    await replace(join(this.#folder, 'session.json'), this.#session());
    await replace(join(this.#folder, 'messages.json'), JSON.stringify(this.#fold.messages));
    this.#writtenSeq = seq;
    this.#lastMs = performance.now() - started;
  }

  #session(): string {
    const { agent, cwd, title, createdAt, updatedAt } = this.#fold;
    return JSON.stringify({
      sessionId: this.#id,
      agent,
      cwd,
      ...(title === null ? {} : { title }),
      createdAt,
      updatedAt,
    });
  }
}

/** Does not block the main thread, unlike `writeWhole`: messages may be large. */
export async function replace(path: string, content: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  await rm(temporary, { force: true });
  try {
    await writeFile(temporary, `${content}\n`, { mode: 0o600, flag: 'wx', flush: true });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
