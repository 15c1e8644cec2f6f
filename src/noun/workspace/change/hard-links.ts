/**
 * Finds the paths of a working copy that are one file. A new link counts as a change; paths that are no longer one file
 * are listed only if their content differs.
 */

import type { BytePath } from '../../../model/byte-path.ts';
import type { Change, Content, Entry } from '../model/change.ts';
import type { WalkedPath } from '../tree/walk.ts';
import type { Base, BaseRecord } from './change.ts';

/** A path of a file that has other hard links. */
interface Name {
  readonly path: BytePath;
  readonly base: Base;
  readonly after: Entry;
  readonly content: Content;
  readonly record: BaseRecord | undefined;
  /** The identity of the base's file at this path; null: none. */
  readonly before: string | null;
  readonly listed: boolean;
}

/** What the walk found at a path. */
export interface FoundEntry extends Omit<Name, 'path' | 'before' | 'after'> {
  readonly walked: WalkedPath;
  readonly after: Entry | null;
}

export class HardLinks {
  readonly #files = new Map<string, Name[]>();

  add({ walked, after, ...found }: FoundEntry): void {
    const stat = walked.after;
    if (stat === null || after?.type !== 'file') return;
    // The link count of the kernel does not include names that show through.
    if (stat.nlink < 2n && walked.afterName === undefined) return;
    const file = `${stat.dev}:${stat.ino}`;
    const names = this.#files.get(file) ?? [];
    names.push({ ...found, path: walked.path, after, before: fileBefore(walked, found.record) });
    this.#files.set(file, names);
  }

  /** Adds `hardLink` to listed changes, and changes for paths that differ by the link alone. */
  complete(
    changes: readonly Change[],
    changeOf: (path: BytePath, base: Base, after: Entry, content: Content) => Change,
  ): Change[] {
    const linked = new Map<BytePath, BytePath>();
    const more: Change[] = [];
    for (const names of this.#files.values()) {
      const [first, ...others] = names.sort(firstName);
      for (const name of others) {
        if (name.listed) linked.set(name.path, first!.path);
        else if (!wasLinked(name, first!))
          more.push({ ...changeOf(name.path, name.base, name.after, name.content), hardLink: first!.path });
      }
    }
    const found = changes.map((change) => {
      const hardLink = linked.get(change.path);
      return hardLink === undefined ? change : { ...change, hardLink };
    });
    return [...found, ...more];
  }
}

/** An unchanged name comes first: the project may have that file already. */
function firstName(one: Name, other: Name): number {
  if (one.listed !== other.listed) return one.listed ? 1 : -1;
  return one.path < other.path ? -1 : 1;
}

function wasLinked(name: Name, first: Name): boolean {
  if (name.record?.origin === 'applied') {
    const { hardLink } = name.record;
    if (hardLink !== null && [first.path, first.record?.hardLink].includes(hardLink)) return true;
    if (first.record?.hardLink === name.path) return true;
  }
  return name.before !== null && name.before === first.before;
}

function fileBefore({ before }: WalkedPath, record: BaseRecord | undefined): string | null {
  const identity = record?.origin === 'project' ? record.identity : before;
  return identity && `${identity.dev}:${identity.ino}`;
}
