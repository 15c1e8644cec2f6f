/**
 * Makes every name in the index a name in the upper layer, so that the layers need no index: what the owner does to the
 * original no longer matters, and the layers can be copied and mounted again. Does nothing while they are mounted.
 */
import { chmodSync, chownSync, existsSync, fstatSync, linkSync, mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { Anchor, within } from '../../../../lib/file/anchor.ts';
import { isErrno } from '../../../../lib/file/file.ts';
import { crashPoint } from '../../../../lib/flow/crash-point.ts';
import type { Stat } from '../../../../lib/sys/stat.ts';
import { removeMark, setTimes } from '../../../../lib/sys/sys.ts';
import { detachMount, mount, mountFlags } from '../../../../lib/sys/sys-mount.ts';
import { type BytePath, toBytes } from '../../../../model/byte-path.ts';
import type { Owner } from '../../tree/open-entry.ts';
import { look } from '../../tree/tree.ts';
import type { WorkspacePlace } from '../../workspace.ts';
import { afterRoot } from '../changes.ts';
import { hasIndex, indexFolder, removeIndex, walkIndex } from './index-layer.ts';

export function foldIndex(place: WorkspacePlace): void {
  if (place.kind !== 'overlay' || !existsSync(indexFolder(place))) return;
  if (hasIndex(place)) {
    if (isMounted(place)) return;
    const names: { path: BytePath; file: BytePath }[] = [];
    walkIndex(place, ({ path, afterName }) => names.push({ path, file: afterName! }));
    for (const { path, file } of names) addName(place, path, file);
    crashPoint('fold:linked');
    removeIndex(place);
  }
  forgetFolders(place);
}

/** Removes the marks by which the kernel insists on the same inodes for the base and the upper layer. */
function forgetFolders(place: WorkspacePlace): void {
  removeMark(Buffer.from(afterRoot(place)), `${place.marks}.overlay.origin`);
  removeMark(Buffer.from(indexFolder(place)), `${place.marks}.overlay.upper`);
}

/**
 * Folders above the name are made as copies of the base's: their other entries show through as before, and none looks
 * changed.
 */
function addName(place: WorkspacePlace, path: BytePath, file: BytePath): void {
  const names = path.split('/');
  const last = names.pop()!;
  let [upper, lower] = [Anchor.reach(afterRoot(place)), Anchor.reach(place.base)];
  const [agent, owner] = [fstatSync(upper.fd), fstatSync(lower.fd)];
  try {
    for (const name of names) {
      const stat = look(lower, name)!;
      const isNew = look(upper, name) === null;
      if (isNew) keepingTimes(upper, (at) => makeFolder(at(name), stat, Number(stat.uid) === owner.uid ? agent : null));
      [upper, lower] = [upper, lower].map((folder) => entered(folder, name)) as [Anchor, Anchor];
      if (isNew) setTimes(upper.fd, stat.atimeMs * 1_000_000n, stat.mtimeNs);
    }
    const source = Buffer.concat([Buffer.from(`${indexFolder(place)}/`), toBytes(file)]);
    if (look(upper, last) === null) keepingTimes(upper, (at) => linkSync(source, at(last)));
  } finally {
    upper.close();
    lower.close();
  }
}

function keepingTimes(folder: Anchor, work: (at: (name: BytePath) => Buffer) => void): void {
  const { atimeMs, mtimeNs } = fstatSync(folder.fd, { bigint: true });
  work((name) => folder.at(toBytes(name)));
  setTimes(folder.fd, atimeMs * 1_000_000n, mtimeNs);
}

function entered(folder: Anchor, name: BytePath): Anchor {
  const next = folder.enter(toBytes(name));
  folder.close();
  return next;
}

/** What belongs to the owner of the project belongs to `agent` inside. */
function makeFolder(path: Buffer, stat: Stat, agent: Owner | null): void {
  mkdirSync(path, 0o700);
  chownSync(path, agent?.uid ?? Number(stat.uid), agent?.gid ?? Number(stat.gid));
  chmodSync(path, Number(stat.mode & 0o7777n));
}

/** The kernel allows one mount of the same layers at a time, so a trial mount fails if they are mounted. */
function isMounted(place: WorkspacePlace): boolean {
  const target = mkdtempSync(join(place.folder, 'trial-'));
  try {
    return within(Anchor.reach(place.folder), (folder) =>
      within(Anchor.reach(place.base), (base) => isRefused(folder, base, target)),
    );
  } finally {
    rmdirSync(target);
  }
}

function isRefused(folder: Anchor, base: Anchor, target: string): boolean {
  const layers = `lowerdir=${base.path},upperdir=${folder.path}/upper,workdir=${folder.path}/work`;
  try {
    mount('carrel-trial', target, 'overlay', mountFlags.nosuid | mountFlags.nodev, `${layers},index=on`);
    detachMount(target);
    return false;
  } catch (error) {
    return isErrno(error, 'EBUSY');
  }
}
