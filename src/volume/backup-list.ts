/** The archives in a folder, as each says about itself; what cannot be read is nobody's. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isFault } from '../model/fault.ts';
import { openArchive } from './archive.ts';
import type { Backup } from './volume.ts';

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
    const { volume, type, owner, backedUpAt } = archive.manifest;
    return [{ file, volume, type, owner, backedUpAt, bytes: archive.bytes }];
  } catch (error) {
    if (isFault(error)) return [];
    throw error;
  }
}
