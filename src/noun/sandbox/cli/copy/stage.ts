/**
 * A private folder that receives what a sandbox sends, until it is renamed to its destination. The folder is in the
 * home if that is on the same mount, because no sandbox can write there; else it is in the destination folder.
 */
import { mkdirSync, mkdtempSync, renameSync, rmdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Anchor } from '../../../../lib/file/anchor.ts';
import { Fault } from '../../../../model/fault.ts';
import { discard } from './move-entry.ts';

export interface CopyStage {
  readonly folder: Anchor;
  dispose(): void;
}

export function openStage(home: string | null, target: Anchor): CopyStage {
  try {
    const path = (home === null ? null : ownFolder(home, target)) ?? mkdtempSync(join(target.path, '.carrel-cp-'));
    const folder = Anchor.open(path);
    return {
      folder,
      dispose: () => {
        folder.close();
        discard(path);
      },
    };
  } catch (error) {
    throw unwritable(error);
  }
}

/** Null: files cannot be renamed from the home to the destination. */
function ownFolder(home: string, target: Anchor): string | null {
  const own = mkdtempSync(join(home, 'cp-'));
  try {
    if (canMove(own, target)) return own;
  } catch (error) {
    discard(own);
    throw error;
  }
  discard(own);
  return null;
}

/** Tries a rename, the only reliable test: a rename between two mounts of one filesystem fails too. */
function canMove(own: string, target: Anchor): boolean {
  const probe = join(own, 'probe');
  const arrived = target.at(`.carrel-${basename(own)}`);
  mkdirSync(probe);
  try {
    renameSync(probe, arrived);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    rmdirSync(probe);
    return false;
  }
  rmdirSync(arrived);
  return true;
}

function unwritable(error: unknown): Fault {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new Fault('exhausted', 'no space left for the copy', { cause: error });
  return new Fault('denied', `the destination cannot be written: ${message}`, { cause: error });
}
