/** Prepares everything that an apply puts into the project, in a folder on the project's own filesystem. */
import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  openSync,
  type PathLike,
  symlinkSync,
} from 'node:fs';
import type { Anchor } from '../../lib/anchor.ts';
import { isErrno } from '../../lib/file.ts';
import { toBytes, toText } from '../../model/byte-path.ts';
import { Fault } from '../../model/fault.ts';
import { lookAt, pathOf, type Spot } from '../tree/folders.ts';
import type { Reader } from '../tree/reader.ts';
import type { JournalStep, Swap } from './journal.ts';
import type { Owner, Step } from './plan.ts';
import { type Stamp, stampOf } from './stamp.ts';

export class Stage {
  private readonly folder: Anchor;
  private readonly owner: Owner;
  private readonly reader: Reader;

  /** What has no owner yet gets this one. */
  constructor(folder: Anchor, owner: Owner, reader: Reader) {
    this.folder = folder;
    this.owner = owner;
    this.reader = reader;
  }

  /** Folders that may not be written to get their modes once they are filled. */
  prepare(steps: readonly Step[]): JournalStep[] {
    const late: JournalStep[] = [];
    const prepared = steps.map((step, slot) => {
      const result = this.prepareOne(step, slot);
      if (step.do === 'mkdir' && result.do === 'swap') late.push(...lateMode(result, step.make.mode));
      return result;
    });
    return [...prepared, ...late.reverse()];
  }

  private prepareOne(step: Step, slot: number): JournalStep {
    const { path, old } = step;
    if (step.do === 'rmdir') return { do: 'rmdir', path, old: step.old, kept: step.kept };
    if (step.do === 'chmod') return { do: 'chmod', path, ino: step.old.ino, from: step.old.mode, to: modeAfter(step) };
    if (step.do === 'remove') return { do: 'swap', path, slot, old, put: null, hash: null };
    return { do: 'swap', path, slot, old, ...this.make(step, { folder: this.folder, name: `${slot}` }) };
  }

  private make(step: Step, spot: Spot): Pick<Swap, 'put' | 'hash'> {
    if (step.do === 'file') return this.makeFile(step, spot);
    if (step.do === 'mkdir') this.makeFolder(spot, step.make.mode, step.make.owner ?? this.owner);
    if (step.do === 'link') this.makeLink(spot, toBytes(step.target), step.old ?? this.owner);
    if (step.do === 'restore') this.restore(spot, step.kept, step.was);
    return { put: stampOf(lookAt(spot)!, spot), hash: null };
  }

  private makeFile({ path, old, make }: Step & { do: 'file' }, spot: Spot): Pick<Swap, 'put' | 'hash'> {
    const fd = openSync(pathOf(spot), constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      const { bytes, sha256 } = this.reader.copy(make.source, fd);
      if (bytes !== make.sizeBytes)
        throw new Fault('conflict', `${toText(path)} changed in the sandbox while it was being taken`, {
          hint: 'Try again.',
        });
      giveTo(fd, old ?? this.owner);
      fchmodSync(fd, make.mode & 0o777);
      return { put: stampOf(fstatSync(fd, { bigint: true }), null), hash: sha256 };
    } finally {
      closeSync(fd);
    }
  }

  private makeFolder(spot: Spot, mode: number, owner: Owner): void {
    const path = pathOf(spot);
    mkdirSync(path, 0o700);
    chownIfAllowed(path, owner);
    chmodSync(path, mode | 0o300);
  }

  private makeLink(spot: Spot, target: Buffer, owner: Owner): void {
    const path = pathOf(spot);
    symlinkSync(target, path);
    chownIfAllowed(path, owner);
  }

  /** The very same file where that can be, else one equal in everything. */
  private restore(spot: Spot, kept: string, was: Stamp): void {
    const path = pathOf(spot);
    try {
      linkSync(kept, path);
    } catch (error) {
      if (!['EXDEV', 'EPERM', 'EMLINK', 'EOPNOTSUPP'].some((code) => isErrno(error, code))) throw error;
      copyAs(kept, path, was);
    }
  }
}

/** What only the owner of a folder can have set on it, such as a group that is inherited, stays. */
function modeAfter({ old, mode }: Step & { do: 'chmod' }): number {
  return old.type === 'folder' ? (old.mode & 0o7000) | mode : mode;
}

function lateMode({ path, put }: Swap, mode: number): JournalStep[] {
  return put!.mode === mode ? [] : [{ do: 'chmod', path, ino: put!.ino, from: put!.mode, to: mode }];
}

/** A copy of a file or link with the mode, owner and time that are noted. */
export function copyAs(from: PathLike, to: PathLike, was: Stamp): void {
  if (was.type === 'link') symlinkSync(toBytes(was.target!), to);
  else copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  chownIfAllowed(to, was);
  if (was.type !== 'link') chmodSync(to, was.mode);
  const seconds = Number(was.mtimeNs) / 1e9;
  lutimesSync(to, seconds, seconds);
}

function giveTo(fd: number, { uid, gid }: Owner): void {
  const stats: BigIntStats = fstatSync(fd, { bigint: true });
  if (Number(stats.uid) === uid && Number(stats.gid) === gid) return;
  ignoringDenied(() => fchownSync(fd, uid, gid));
}

function chownIfAllowed(path: PathLike, { uid, gid }: Owner): void {
  ignoringDenied(() => lchownSync(path, uid, gid));
}

/** Who is not root makes everything in his own name. */
function ignoringDenied(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!isErrno(error, 'EPERM') && !isErrno(error, 'EINVAL')) throw error;
  }
}
