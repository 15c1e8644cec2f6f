/**
 * The index that the kernel keeps in `work/index` while an overlay is mounted: for each file of the base that has several names
 * and was changed by one of them, a link to the changed file, named by the file handle of the original. Every name of the
 * original that shows through has the content of the changed file, as long as the base has the original; `foldIndex` makes
 * them names in the upper layer when nothing is mounted.
 */
import { closeSync, constants, existsSync, fstatSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Anchor, within } from '../../../../lib/file/anchor.ts';
import { fileHandle, openByHandle } from '../../../../lib/sys/sys.ts';
import { type BytePath, toBytes } from '../../../../model/byte-path.ts';
import { look } from '../../tree/tree.ts';
import { type WalkedPath, walk } from '../../tree/walk.ts';
import type { WorkspacePlace } from '../../workspace.ts';
import { isOpaqueMark, isWhiteout, originHead } from './layer-marks.ts';

export function indexFolder({ folder }: WorkspacePlace): string {
  return join(folder, 'work', 'index');
}

/** Cheap, and false for nearly all workspaces. */
export function hasIndex(place: WorkspacePlace): boolean {
  return entriesOf(place).length > 0;
}

/** The kernel names entries that it is removing with a leading #. */
function entriesOf(place: WorkspacePlace): BytePath[] {
  if (place.kind !== 'overlay' || !existsSync(indexFolder(place))) return [];
  return within(Anchor.reach(indexFolder(place)), (index) => index.list().filter((name) => /^[0-9a-f]+$/.test(name)));
}

/** Visits paths that show through and are changed. `after` is the changed file, `afterName` its name in the index. */
export function walkIndex(place: WorkspacePlace, visit: (walked: WalkedPath) => void): void {
  const entries = entriesOf(place);
  if (entries.length === 0) return;
  const originals = originalsOf(place, entries);
  if (originals.size === 0) return;
  within(Anchor.reach(indexFolder(place)), (index) =>
    walkShown(place, (walked) => {
      const afterName = originals.get(`${walked.before!.ino}`);
      if (afterName === undefined || !isCalled(walked.beforeIn!.at(toBytes(walked.name)), afterName)) return;
      const after = look(index, afterName);
      if (after?.isFile()) visit({ ...walked, after, afterIn: index, afterName });
    }),
  );
}

/** Names in the index by the inode number of the original, for originals that the base still has. */
function originalsOf({ base }: WorkspacePlace, entries: readonly BytePath[]): Map<string, BytePath> {
  const fd = openSync(base, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return new Map(entries.flatMap((name) => numberOf(fd, name).map((ino) => [ino, name] as const)));
  } finally {
    closeSync(fd);
  }
}

function numberOf(mountFd: number, name: BytePath): string[] {
  const origin = Buffer.from(name, 'hex');
  if (origin.length <= originHead.bytes) return [];
  const handle = { type: origin[originHead.type]!, bytes: origin.subarray(originHead.bytes) };
  const fd = openByHandle(mountFd, handle);
  if (fd === null) return [];
  try {
    return [`${fstatSync(fd, { bigint: true }).ino}`];
  } finally {
    closeSync(fd);
  }
}

function isCalled(path: Buffer, name: BytePath): boolean {
  const handle = fileHandle(path);
  return handle !== null && Buffer.from(name, 'hex').subarray(originHead.bytes).equals(handle.bytes);
}

/** Every file of the base that nothing in the upper layer hides. */
function walkShown(place: WorkspacePlace, visit: (walked: WalkedPath) => void): void {
  walk<boolean>(join(place.folder, 'upper'), place.base, (upper) => !isOpaqueMark(place, upper.fd), {
    isWhiteout,
    // Lists everything that the base has.
    isOpaque: () => true,
    inside: (walked, shown) => shown && showsThrough(place, walked),
    visit: (walked, shown) => {
      const isOwn = walked.after !== null || walked.whiteout !== null;
      if (shown && !isOwn && walked.before?.isFile()) visit(walked);
    },
  });
}

function showsThrough(place: WorkspacePlace, { after, whiteout, afterIn, name }: WalkedPath): boolean {
  if (whiteout !== null) return false;
  if (after === null) return true;
  return after.isDirectory() && !isOpaqueMark(place, afterIn!.at(toBytes(name)));
}

/** Called when every name is in the upper layer: the kernel does not need the index any more. */
export function removeIndex(place: WorkspacePlace): void {
  rmSync(indexFolder(place), { recursive: true, force: true });
}
