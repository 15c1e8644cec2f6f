/** The archives in a folder, with what each says about itself; one that cannot be read belongs to no user. */
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { syncFolder } from '../../lib/file/file.ts';
import { Fault, isFault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import { openArchive } from './archive/archive.ts';
import type { Backup, VolumeActor } from './volume.ts';

/** Oldest first. */
export async function listBackups(folder: string): Promise<readonly Backup[]> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.tar'));
  const found: Backup[] = [];
  for (const name of names) found.push(...(await readBackup(join(folder, name))));
  return found.sort((one, other) => one.backedUpAt.localeCompare(other.backedUpAt));
}

async function readBackup(file: string): Promise<Backup[]> {
  try {
    const archive = await openArchive(file);
    await archive.close();
    const { volume, type, label, owner, backedUpAt } = archive.manifest;
    return [{ file, volume, type, ...(label === undefined ? {} : { label }), owner, backedUpAt, bytes: archive.bytes }];
  } catch (error) {
    if (isFault(error)) return [];
    throw error;
  }
}

/** `file` is the path of a backup or its last part. The owner of the installation can also remove an unreadable one. */
export async function removeBackup(folder: string, actor: VolumeActor, file: string): Promise<string> {
  const path = join(folder, basename(file));
  const found = (await listBackups(folder)).find((backup) => backup.file === path);
  const mayRemove = found ? found.owner === actor.user || actor.isOwner : actor.isOwner && isBackupFile(path);
  if ((file.includes('/') && file !== path) || !mayRemove) throw noBackup(file);
  rmSync(path);
  syncFolder(folder);
  return path;
}

function isBackupFile(path: string): boolean {
  return path.endsWith('.tar') && (lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false);
}

function noBackup(file: string): Fault {
  return new Fault('not_found', `no backup ${printable(file)} was made here`, {
    hint: 'Those that were: carrel volume ls --backups',
  });
}
