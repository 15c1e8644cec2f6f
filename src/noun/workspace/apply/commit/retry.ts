/**
 * Makes files again that the owner changed between plan and exchange, from the project's present version. The slot
 * keeps the inode and its modification time, so that a rollback after a crash recognises the file; the window for a
 * race is only as long as one file takes.
 */
import { closeSync, constants, fchmodSync, ftruncateSync } from 'node:fs';
import type { Anchor } from '../../../../lib/file/anchor.ts';
import { statOf } from '../../../../lib/sys/stat.ts';
import { openAt, setTimes } from '../../../../lib/sys/sys.ts';
import { fromText } from '../../../../model/byte-path.ts';
import { type EntryLocation, type Folders, lookAt } from '../../tree/folders.ts';
import { Reader } from '../../tree/reader.ts';
import type { FileStep, Remake } from '../apply.ts';
import type { JournalStep, Swap } from '../journal.ts';
import { isIt, stampOf } from '../stamp.ts';
import { changedMeanwhile } from './changed.ts';
import { Swapping } from './swap.ts';

/** Enough for an editor that saves every few milliseconds. */
const maxTries = 500;
const patienceMs = 10_000;

export class Retry {
  readonly #staging: Anchor;
  readonly #project: Folders;
  readonly #remake: Remake;
  readonly #deadline = performance.now() + patienceMs;

  constructor(staging: Anchor, project: Folders, remake: Remake) {
    this.#staging = staging;
    this.#project = project;
    this.#remake = remake;
  }

  /** True for a file that replaces a file and has no other hard link. */
  canMake(step: JournalStep): step is Swap {
    if (step.do !== 'swap' || step.old?.type !== 'file' || step.put?.type !== 'file') return false;
    const staged = lookAt(this.#slot(step));
    return staged !== null && isIt(staged, step.put) && staged.nlink === 1n;
  }

  /**
   * Returns the step as it was done in the end. Throws `conflict` if the owner changed the file each time, or if it no
   * longer merges.
   */
  make({ again: _, ...swap }: Swap): Swap {
    for (let tries = 0; tries < maxTries && performance.now() < this.#deadline; tries += 1) {
      const step = this.#remake(swap.path);
      if (step === null || step.old === null || (step.make.mode & 0o777) !== swap.put!.mode) break;
      const next: Swap = { ...swap, old: step.old, ...this.#write(swap, step) };
      const swapping = new Swapping(next, this.#project.locate(swap.path), this.#staging);
      if (!swapping.do(true)) continue;
      if (swapping.isRight()) return next;
      if (!swapping.undo()) break;
    }
    throw changedMeanwhile([swap.path]);
  }

  #write(swap: Swap, { make }: FileStep): Pick<Swap, 'put' | 'hash'> {
    const { folder, name } = this.#slot(swap);
    const fd = openAt({ folderFd: folder.fd, name }, constants.O_RDWR | constants.O_NOFOLLOW);
    const reader = new Reader();
    try {
      if (!isIt(statOf(fd), swap.put!)) throw changedMeanwhile([swap.path]);
      ftruncateSync(fd, 0);
      const { sha256 } = reader.copy(make.source, fd);
      if (sha256 !== (make.sha256 ?? sha256)) throw changedMeanwhile([swap.path]);
      fchmodSync(fd, make.mode & 0o777);
      setTimes(fd, BigInt(swap.put!.mtimeNs), BigInt(swap.put!.mtimeNs));
      return { put: stampOf(statOf(fd), null), hash: sha256 };
    } finally {
      reader.close();
      closeSync(fd);
    }
  }

  #slot({ slot }: Swap): EntryLocation {
    return { folder: this.#staging, name: fromText(`${slot}`) };
  }
}
