/**
 * An open folder in which names are resolved. Whatever happens to the path that led here, the folder stays
 * the same, and a name is never followed through a symbolic link.
 */
import { chmodSync, closeSync, constants, lstatSync, openSync, readdirSync, type Stats } from 'node:fs';
import type { BytePath } from '../../model/byte-path.ts';

/** A name that was read from a folder is bytes, since a file name need not be text. */
export type Name = string | Buffer;

/** Opens any entry without permissions on it; Node has no constant for this. */
export const O_PATH = 0o10000000;

export class Anchor {
  readonly fd: number;

  private constructor(fd: number) {
    this.fd = fd;
  }

  static open(path: string): Anchor {
    return new Anchor(openSync(path, constants.O_RDONLY | constants.O_DIRECTORY));
  }

  /** Takes over an open folder: closing the anchor closes it. */
  static of(fd: number): Anchor {
    return new Anchor(fd);
  }

  /** Opens a folder by its real path: a link in any component is refused with ELOOP or ENOTDIR. */
  static reach(path: string): Anchor {
    let folder = Anchor.open('/');
    for (const name of path.split('/').filter((part) => part !== '')) {
      const above = folder;
      folder = within(above, () => above.enter(name));
    }
    return folder;
  }

  /** Opens the folder of that name in this one; a symbolic link is refused with ELOOP or ENOTDIR. */
  enter(name: Name): Anchor {
    return new Anchor(openSync(this.at(name), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW));
  }

  /** A path for one name in this folder, valid in this process only. */
  at(name: Name): Buffer {
    return Buffer.concat([
      Buffer.from(`/proc/self/fd/${this.fd}/`),
      typeof name === 'string' ? Buffer.from(name) : name,
    ]);
  }

  /** A path for this folder, valid in child processes too. */
  get path(): string {
    return `/proc/${process.pid}/fd/${this.fd}`;
  }

  /** The names of the entries, with one character per byte, since a name may have any bytes. */
  list(): BytePath[] {
    return readdirSync(`/proc/self/fd/${this.fd}`, { encoding: 'latin1' });
  }

  names(): Buffer[] {
    return readdirSync(`/proc/self/fd/${this.fd}`, { encoding: 'buffer' });
  }

  look(name: Name): Stats | null {
    return lstatSync(this.at(name), { throwIfNoEntry: false }) ?? null;
  }

  /** Changes the mode of the entry itself, never of the target of a link. */
  chmod(name: Name, mode: number): void {
    const entry = openSync(this.at(name), O_PATH | constants.O_NOFOLLOW);
    try {
      chmodSync(`/proc/self/fd/${entry}`, mode);
    } finally {
      closeSync(entry);
    }
  }

  close(): void {
    closeSync(this.fd);
  }
}

/** Calls `work` with an open folder and closes it. */
export function within<T>(folder: Anchor, work: (folder: Anchor) => T): T {
  try {
    return work(folder);
  } finally {
    folder.close();
  }
}
