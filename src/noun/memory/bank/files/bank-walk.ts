/** Lists the folder of a bank recursively: through open folders, so that no link is followed, and up to a limit. */
import { type BigIntStats, lstatSync, opendirSync } from 'node:fs';
import { type Anchor, within } from '../../../../lib/file/anchor.ts';
import { isErrno } from '../../../../lib/file/file.ts';
import { isBankPath, maxDepth } from '../../model/bank.ts';

export interface FoundFile {
  readonly path: string;
  readonly bytes: number;
  readonly stamp: string | null;
}

/** Changes in the same tick of the kernel's clock have the same time, so a file younger than this gets no stamp. */
const settledMs = 100;

/** Uses the time of the last change of the inode, which the kernel sets and an agent cannot set. */
export function stampOf({ dev, ino, size, ctimeNs }: BigIntStats): string | null {
  const ageMs = Date.now() - Number(ctimeNs / 1_000_000n);
  return ageMs < settledMs && ageMs > -1000 ? null : `${dev}:${ino}:${size}:${ctimeNs}`;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads at most `maxEntries` + 1 names, because an agent can create millions. */
export function namesIn(folder: Anchor, maxEntries: number): string[] {
  const listing = opendirSync(`/proc/self/fd/${folder.fd}`, { encoding: 'buffer' as BufferEncoding });
  const names: string[] = [];
  try {
    for (let count = 0; count <= maxEntries; count += 1) {
      const found = listing.readSync();
      if (found === null) break;
      names.push(...textName(found.name as unknown as Buffer));
    }
  } finally {
    listing.closeSync();
  }
  return names;
}

function textName(name: Buffer): string[] {
  try {
    return [utf8.decode(name)];
  } catch {
    return [];
  }
}

/** Visits at most `maxEntries` entries. */
export class Walk {
  readonly files: FoundFile[] = [];
  isCut = false;
  #entries = 0;
  readonly #maxEntries: number;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  visit(folder: Anchor, path: string): void {
    for (const name of namesIn(folder, this.#maxEntries).sort()) {
      if (this.#entries >= this.#maxEntries) {
        this.isCut = true;
        return;
      }
      this.#entries += 1;
      this.#take(folder, name, path === '' ? name : `${path}/${name}`);
    }
  }

  enter(above: Anchor, name: string, path: string): void {
    try {
      within(above.enter(name), (folder) => this.visit(folder, path));
    } catch (error) {
      // The folder was replaced or removed meanwhile, ignoring.
      if (!['ENOENT', 'ELOOP', 'ENOTDIR', 'EACCES'].some((code) => isErrno(error, code))) throw error;
    }
  }

  #take(folder: Anchor, name: string, path: string): void {
    if (!isBankPath(path)) return;
    const stat = lstatSync(folder.at(name), { bigint: true, throwIfNoEntry: false });
    if (stat?.isFile()) this.files.push({ path, bytes: Number(stat.size), stamp: stampOf(stat) });
    else if (stat?.isDirectory() && path.split('/').length < maxDepth) this.enter(folder, name, path);
  }
}
