/**
 * A position in a tree that others may be changing. Going down never follows a symbolic link. Only the last few
 * folders stay open, so a tree may be deeper than the limit of descriptors. Going up to a closed folder uses `..` if that is
 * still the folder it came from, and otherwise opens the path again from the root, name by name.
 */
import { fstatSync } from 'node:fs';
import { Anchor } from '../../../lib/file/anchor.ts';
import type { BytePath } from '../../../model/byte-path.ts';
import { enter, unlessGone } from './tree.ts';

const openAtMost = 16;

interface Level {
  readonly name: BytePath;
  /** Null while it is open. */
  identity: string | null;
}

export class TreeCursor {
  readonly #root: Anchor;
  readonly #levels: Level[] = [];
  /** The last levels, in order. Null: the folder was gone when it was opened again. */
  readonly #opened: (Anchor | null)[] = [];
  /** True: an entry was gone when it was opened. */
  lostTrack = false;

  constructor(path: string) {
    this.#root = Anchor.reach(path);
  }

  /** Null: the folder is no longer at its path. */
  get here(): Anchor | null {
    return this.#levels.length === 0 ? this.#root : this.#opened.at(-1)!;
  }

  /** False: it is not a folder, or not any more. */
  down(name: BytePath): boolean {
    const folder = this.here === null ? null : this.#enter(this.here, name);
    if (folder === null) return false;
    this.#levels.push({ name, identity: null });
    this.#opened.push(folder);
    if (this.#opened.length > openAtMost) this.#leave(this.#opened.shift()!);
    return true;
  }

  #leave(folder: Anchor | null): void {
    if (folder === null) return;
    this.#levels.at(-openAtMost - 1)!.identity = identityOf(folder);
    folder.close();
  }

  up(): void {
    this.#levels.pop();
    const below = this.#opened.pop() ?? null;
    if (this.#levels.length > 0 && this.#opened.length === 0) this.#opened.push(this.#above(below) ?? this.#again());
    below?.close();
  }

  #above(below: Anchor | null): Anchor | null {
    const folder = below && unlessGone(() => below.enter('..'));
    if (folder === null || identityOf(folder) === this.#levels.at(-1)!.identity) return folder;
    folder.close();
    return null;
  }

  #again(): Anchor | null {
    let folder: Anchor | null = this.#root;
    for (const { name } of this.#levels) {
      const next: Anchor | null = this.#enter(folder, name);
      if (folder !== this.#root) folder.close();
      if (next === null) return null;
      folder = next;
    }
    return folder;
  }

  #enter(from: Anchor, name: BytePath): Anchor | null {
    const folder = enter(from, name);
    if (folder === null) this.lostTrack = true;
    return folder;
  }

  close(): void {
    for (const folder of this.#opened) folder?.close();
    this.#root.close();
  }
}

function identityOf({ fd }: Anchor): string {
  const { dev, ino } = fstatSync(fd, { bigint: true });
  return `${dev}:${ino}`;
}
