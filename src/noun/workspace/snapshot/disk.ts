/**
 * A disk for one sandbox: `disk.img` in its folder, an ext4 filesystem in a sparse file, mounted on `state` in the daemon's
 * mount namespace. When it is full, only this sandbox is affected. The kernel frees its loop device with the last mount.
 *
 * A sandbox that outlives a daemon keeps the device of the image mounted, in a namespace that no process enters any more. The
 * next daemon mounts that very device: two devices on one image would destroy it.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree, syncFolder } from '../../../lib/file/file.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { type Ran, run } from '../../../lib/process/run.ts';
import { isInUserNamespace } from '../../../lib/sys/id-map.ts';
import { detachMount } from '../../../lib/sys/sys-mount.ts';
import { Fault, isFault } from '../../../model/fault.ts';

export type DiskLimit =
  | { readonly kind: 'enforced' }
  /** The plain folder is used. */
  | { readonly kind: 'advisory'; readonly reason: string };

function imagePath(sandboxFolder: string): string {
  return join(sandboxFolder, 'disk.img');
}

function mountPoint(sandboxFolder: string): string {
  return join(sandboxFolder, 'state');
}

export function hasDisk(sandboxFolder: string): boolean {
  return existsSync(imagePath(sandboxFolder));
}

/** Puts the state of a sandbox on a disk of this size, if that is possible. An existing disk keeps its size. */
export async function ensureDisk(sandboxFolder: string, sizeBytes: number): Promise<DiskLimit> {
  const state = mountPoint(sandboxFolder);
  mkdirSync(state, { recursive: true, mode: 0o711 });
  if (!hasDisk(sandboxFolder)) {
    if (readdirSync(state).length > 0) return advisory('the sandbox has files from a start without a limit');
    const reason = await makeDisk(sandboxFolder, sizeBytes);
    if (reason !== null) return advisory(reason);
  }
  await openDisk(sandboxFolder);
  return { kind: 'enforced' };
}

function advisory(reason: string): DiskLimit {
  return { kind: 'advisory', reason };
}

/**
 * Null: it was made; otherwise the reason why not. Mounted once before it is used, so that every disk can be mounted.
 */
async function makeDisk(sandboxFolder: string, sizeBytes: number): Promise<string | null> {
  if (!isRealRoot()) return 'only root can mount a disk';
  try {
    await withNewDisk(sandboxFolder, sizeBytes, async () => {});
    return null;
  } catch (error) {
    if (isFault(error)) return error.message;
    throw error;
  }
}

/** In a user namespace no process may attach a file to a loop device. */
function isRealRoot(): boolean {
  return process.getuid?.() === 0 && !isInUserNamespace();
}

/** A copy of the disk of one sandbox for another, filled before it gets its name. */
export function fillDisk(from: string, to: string, fill: (folder: string) => Promise<void>): Promise<void> {
  return withNewDisk(to, statSync(imagePath(from)).size, fill).then(() => openDisk(to));
}

async function withNewDisk(
  sandboxFolder: string,
  sizeBytes: number,
  fill: (folder: string) => Promise<void>,
): Promise<void> {
  const image = `${imagePath(sandboxFolder)}.new`;
  const place = `${mountPoint(sandboxFolder)}.new`;
  detachMount(place);
  await removeTree(place);
  try {
    await makeImage(image, sizeBytes);
    mkdirSync(place, { mode: 0o711 });
    await mountImage(image, place);
    rmdirSync(join(place, 'lost+found'));
    chmodSync(place, 0o711);
    await fill(place);
    crashPoint('disk:filled');
    requireSuccess(await administer('umount', '--', place), 'umount');
    await syncFile(image);
    renameSync(image, imagePath(sandboxFolder));
    syncFolder(sandboxFolder);
  } finally {
    detachMount(place);
    rmSync(place, { recursive: true, force: true });
    rmSync(image, { force: true });
  }
}

/** The format writes as little as possible. Small files are common here, so there are many inodes. */
const format = ['-q', '-F', '-m', '0', '-i', '8192', '-E', 'lazy_itable_init=1,lazy_journal_init=1,nodiscard'] as const;

async function makeImage(image: string, sizeBytes: number): Promise<void> {
  const file = await open(image, 'w', 0o600);
  try {
    await file.truncate(sizeBytes);
  } finally {
    await file.close();
  }
  requireSuccess(await administer('mkfs.ext4', ...format, '--', image), 'mkfs.ext4');
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Mounts the disk of a sandbox, if it has one that is not mounted. */
export async function openDisk(sandboxFolder: string): Promise<void> {
  if (!hasDisk(sandboxFolder) || isMounted(sandboxFolder)) return;
  mkdirSync(mountPoint(sandboxFolder), { recursive: true, mode: 0o711 });
  await mountImage(imagePath(sandboxFolder), mountPoint(sandboxFolder));
}

function isMounted(sandboxFolder: string): boolean {
  const state = statSync(mountPoint(sandboxFolder), { throwIfNoEntry: false });
  return state !== undefined && state.dev !== statSync(sandboxFolder).dev;
}

const tries = 3;

/** Files that are deleted inside give their blocks back to the host. */
async function mountImage(image: string, place: string): Promise<void> {
  for (let left = tries; ; left -= 1) {
    const device = await deviceOf(image);
    const [source, loop] = device === null ? [image, ['loop']] : [device, []];
    const options = [...loop, 'nosuid', 'nodev', 'noatime', 'discard'].join(',');
    const ran = await administer('mount', '-n', '-t', 'ext4', '-o', options, '--', source, place);
    // The device may have been freed with its last mount meanwhile.
    if (ran.exitCode === 0 || left === 1) return requireSuccess(ran, 'mount');
  }
}

/** The loop device that the image is attached to already. */
async function deviceOf(image: string): Promise<string | null> {
  const { stdout } = await administer('losetup', '--associated', image, '--noheadings', '--output', 'NAME');
  return stdout.trim().split('\n')[0] || null;
}

/** These programs are not on the PATH of every account. */
function administer(...argv: string[]): Promise<Ran> {
  return run(['env', `PATH=${process.env.PATH}:/usr/sbin:/sbin`, ...argv]);
}

function requireSuccess({ exitCode, stderr }: Ran, program: string): void {
  if (exitCode !== 0) throw new Fault('unavailable', `${program}: ${stderr.trim().split('\n')[0]}`);
}

/**
 * Called before the folder of a sandbox is removed. Empties the disk: in the namespace of an earlier daemon it may stay mounted
 * as long as another sandbox runs there, and should take no space meanwhile.
 */
export async function removeDisk(sandboxFolder: string): Promise<void> {
  if (!hasDisk(sandboxFolder)) return;
  const state = mountPoint(sandboxFolder);
  await openDisk(sandboxFolder);
  for (const name of readdirSync(state)) await removeTree(join(state, name));
  detachMount(state);
  rmSync(imagePath(sandboxFolder));
}
