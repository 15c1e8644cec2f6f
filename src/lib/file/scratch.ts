/**
 * Temporary folders that live as long as one call, and the removal of those that a crash left behind. Each thread of a
 * daemon sets their parent folder once; without that it is the temporary folder of the system.
 */
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from './file.ts';

let own: string | null = null;
let mark = '0';

/**
 * `folder` exists, is private, and is emptied by the caller; `installation` is part of the names of all other
 * folders.
 */
export function setScratch(folder: string, installation: string): void {
  own = folder;
  mark = installation;
}

/** The parent of private folders. */
export function scratchFolder(): string {
  return own ?? tmpdir();
}

/** The prefix of folders for the owner of a project, who cannot enter private ones. */
export function ownersScratch(): string {
  return join(tmpdir(), prefixOf(mark));
}

/** Removes what an earlier daemon of this installation left; none of its processes may be running. */
export async function sweepScratch(installation: string): Promise<void> {
  const left = readdirSync(tmpdir()).filter((name) => name.startsWith(prefixOf(installation)));
  for (const name of left) await removeTree(join(tmpdir(), name));
}

function prefixOf(installation: string): string {
  return `carrel-git-${installation}-`;
}
