/** Prepares everything that an apply puts into the project, in a folder on the project's own filesystem. */
import { closeSync, constants, linkSync, mkdirSync, openSync, symlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { Anchor, within } from '../../lib/anchor.ts';
import { isErrno } from '../../lib/file.ts';
import { type BytePath, fromText, toBytes, toText } from '../../model/byte-path.ts';
import { Fault } from '../../model/fault.ts';
import { pathOf, type Spot } from '../tree/folders.ts';
import { give, holding, holdingNew, interfered, type Owner, setMode, statsOf } from '../tree/held.ts';
import type { Reader } from '../tree/reader.ts';
import { copyAs } from './copy-as.ts';
import type { JournalStep, Swap } from './journal.ts';
import type { Step } from './plan.ts';
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
    if (step.do === 'mkdir')
      return { put: makeFolder(spot, step.make.mode, step.make.owner ?? this.owner), hash: null };
    if (step.do === 'link') return { put: makeLink(spot, step.target, step.old ?? this.owner), hash: null };
    if (step.do === 'restore') return { put: restore(spot, step.kept, step.was), hash: null };
    throw new Fault('internal', `nothing is made to ${step.do} something`);
  }

  private makeFile({ path, old, make }: Step & { do: 'file' }, spot: Spot): Pick<Swap, 'put' | 'hash'> {
    const fd = openSync(pathOf(spot), constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      const { bytes, sha256 } = this.reader.copy(make.source, fd);
      if (bytes !== make.sizeBytes || sha256 !== (make.sha256 ?? sha256))
        throw new Fault('conflict', `${toText(path)} changed in the sandbox while it was being taken`, {
          hint: 'Try again.',
        });
      give(fd, old ?? this.owner);
      setMode(fd, make.mode & 0o777);
      return { put: stampOf(statsOf(fd), null), hash: sha256 };
    } finally {
      closeSync(fd);
    }
  }
}

function makeFolder(spot: Spot, mode: number, owner: Owner): Stamp {
  mkdirSync(pathOf(spot), 0o700);
  return holdingNew(spot, 'folder', (fd) => {
    give(fd, owner);
    setMode(fd, mode | 0o300);
    return stampOf(statsOf(fd), null);
  });
}

function makeLink(spot: Spot, target: BytePath, owner: Owner): Stamp {
  symlinkSync(toBytes(target), pathOf(spot));
  return holdingNew(spot, 'link', (fd) => {
    give(fd, owner);
    return { ...stampOf(statsOf(fd), null), target };
  });
}

/** The very same file where that can be, else one equal in everything. */
function restore(spot: Spot, kept: string, was: Stamp): Stamp {
  try {
    linkSync(kept, pathOf(spot));
  } catch (error) {
    if (!['EXDEV', 'EPERM', 'EMLINK', 'EOPNOTSUPP'].some((code) => isErrno(error, code))) throw error;
    within(Anchor.reach(dirname(kept)), (folder) => copyAs({ folder, name: fromText(basename(kept)) }, spot, was));
  }
  const put = holding(spot, (fd) => stampOf(statsOf(fd), null));
  if (put?.type !== was.type) throw interfered(spot);
  return { ...put, target: was.target };
}

/** What only the owner of a folder can have set on it, such as a group that is inherited, stays. */
function modeAfter({ old, mode }: Step & { do: 'chmod' }): number {
  return old.type === 'folder' ? (old.mode & 0o7000) | mode : mode;
}

function lateMode({ path, put }: Swap, mode: number): JournalStep[] {
  return put!.mode === mode ? [] : [{ do: 'chmod', path, ino: put!.ino, from: put!.mode, to: mode }];
}
