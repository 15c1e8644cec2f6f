/** Prepares everything that an apply puts into the project, in a folder on the project's own filesystem. */
import { closeSync, fchmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { Anchor } from '../../../../lib/file/anchor.ts';
import { isErrno } from '../../../../lib/file/file.ts';
import { type Stat, statOf } from '../../../../lib/sys/stat.ts';
import { createAt, linkAt } from '../../../../lib/sys/sys.ts';
import { type BytePath, fromText, toBytes, toText } from '../../../../model/byte-path.ts';
import { Fault } from '../../../../model/fault.ts';
import { type EntryLocation, folderEntry, lookAt, pathOf } from '../../tree/folders.ts';
import {
  changedByOther,
  type Owner,
  setMode,
  setOwner,
  setOwnerAndStat,
  withNewEntryOpen,
} from '../../tree/open-entry.ts';
import type { Reader } from '../../tree/reader.ts';
import { typeOf } from '../../tree/tree.ts';
import type { ApplyStep, FileStep } from '../apply.ts';
import type { JournalStep, Swap } from '../journal.ts';
import { type Stamp, stampOf } from '../stamp.ts';
import { copyAs } from './copy-as.ts';

export class ApplyStage {
  readonly #folder: Anchor;
  readonly #owner: Owner;
  readonly #reader: Reader;
  /** Open folders with entries that an apply took out and kept, by path. */
  readonly #kept = new Map<string, Anchor>();

  /** New entries get `owner`, unless they replace an entry or name their own. */
  constructor(folder: Anchor, owner: Owner, reader: Reader) {
    this.#folder = folder;
    this.#owner = owner;
    this.#reader = reader;
  }

  /** Folders without write permission get their modes after they are filled. */
  prepare(steps: readonly ApplyStep[]): JournalStep[] {
    const late: JournalStep[] = [];
    const prepared = steps.map((step, slot) => {
      const result = this.#prepareOne(step, slot);
      if (step.do === 'mkdir' && result.do === 'swap') late.push(...lateMode(result, step.make.mode));
      return result;
    });
    return [...prepared, ...late.reverse()];
  }

  close(): void {
    for (const folder of this.#kept.values()) folder.close();
  }

  #prepareOne(step: ApplyStep, slot: number): JournalStep {
    const { path, old } = step;
    if (step.do === 'rmdir') return { do: 'rmdir', path, old: step.old, kept: step.kept };
    if (step.do === 'chmod') return { do: 'chmod', path, ino: step.old.ino, from: step.old.mode, to: modeAfter(step) };
    if (step.do === 'remove') return { do: 'swap', path, slot, old, put: null, hash: null };
    return { do: 'swap', path, slot, old, ...this.#make(step, { folder: this.#folder, name: `${slot}` }) };
  }

  #make(step: ApplyStep, location: EntryLocation): Pick<Swap, 'put' | 'hash'> {
    if (step.do === 'file') return this.#makeFile(step, location);
    if (step.do === 'mkdir')
      return { put: makeFolder(location, step.make.mode, step.make.owner ?? this.#owner), hash: null };
    if (step.do === 'link') return { put: makeLink(location, step.target, step.old ?? this.#owner), hash: null };
    if (step.do === 'restore') return { put: this.#restore(location, step.kept, step.was), hash: null };
    throw new Fault('internal', `a step ${step.do} stages nothing`);
  }

  /** Links the same inode if possible, otherwise makes an equal copy. */
  #restore(location: EntryLocation, kept: string, was: Stamp): Stamp {
    const from = this.#keptAt(kept);
    if (!linked(from, location)) copyAs(from, location, was);
    const put = lookAt(location);
    if (put === null || typeOf(put) !== was.type) throw changedByOther(location);
    return { ...stampOf(put, null), target: was.target };
  }

  #keptAt(kept: string): EntryLocation {
    const path = dirname(kept);
    const folder = this.#kept.get(path) ?? Anchor.reach(path);
    this.#kept.set(path, folder);
    return { folder, name: fromText(basename(kept)) };
  }

  #makeFile({ path, old, make }: FileStep, location: EntryLocation): Pick<Swap, 'put' | 'hash'> {
    const mode = make.mode & 0o777;
    const fd = createAt(folderEntry(location), mode);
    try {
      const { bytes, sha256 } = this.#reader.copy(make.source, fd);
      if (bytes !== make.sizeBytes || sha256 !== (make.sha256 ?? sha256))
        throw new Fault('conflict', `${toText(path)} changed in the sandbox while it was being taken`, {
          hint: 'Try again.',
        });
      return { put: stampOf(withMode(fd, mode, setOwnerAndStat(fd, old ?? this.#owner)), null), hash: sha256 };
    } finally {
      closeSync(fd);
    }
  }
}

function makeFolder(location: EntryLocation, mode: number, owner: Owner): Stamp {
  mkdirSync(pathOf(location), 0o700);
  return withNewEntryOpen(location, 'folder', (fd) => {
    setOwner(fd, owner);
    setMode(fd, mode | 0o300);
    return stampOf(statOf(fd), null);
  });
}

function makeLink(location: EntryLocation, target: BytePath, owner: Owner): Stamp {
  symlinkSync(toBytes(target), pathOf(location));
  return withNewEntryOpen(location, 'link', (fd) => {
    setOwner(fd, owner);
    return { ...stampOf(statOf(fd), null), target };
  });
}

/** The umask clears bits of a new file's mode, and so does a change of its owner. */
function withMode(fd: number, mode: number, stats: Stat): Stat {
  if (Number(stats.mode & 0o7777n) === mode) return stats;
  fchmodSync(fd, mode);
  return statOf(fd);
}

/** False: the filesystem refuses another hard link to the file. */
function linked(file: EntryLocation, name: EntryLocation): boolean {
  try {
    linkAt(folderEntry(file), folderEntry(name));
    return true;
  } catch (error) {
    if (['EXDEV', 'EPERM', 'EMLINK', 'EOPNOTSUPP'].some((code) => isErrno(error, code))) return false;
    throw error;
  }
}

/** Keeps bits that only the owner of a folder can have set, such as an inherited group. */
function modeAfter({ old, mode }: ApplyStep & { do: 'chmod' }): number {
  return old.type === 'folder' ? (old.mode & 0o7000) | mode : mode;
}

function lateMode({ path, put }: Swap, mode: number): JournalStep[] {
  return put!.mode === mode ? [] : [{ do: 'chmod', path, ino: put!.ino, from: put!.mode, to: mode }];
}
