/**
 * Where folders are made that live as long as one call, and how those are found again that a crash left behind. A daemon
 * says once, in each of its threads, where that is; without that it is the system's place for such things.
 */
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '../lib/file.ts';

let own: string | null = null;
let mark = '0';

/** `folder` is there, ours alone, and emptied by whoever calls this; `installation` is in the names of all others. */
export function setScratch(folder: string, installation: string): void {
  own = folder;
  mark = installation;
}

/** For what nobody else needs to reach. */
export function scratchFolder(): string {
  return own ?? tmpdir();
}

/** How the path of a folder begins that the owner of a project works in, who cannot enter ours. */
export function ownersScratch(): string {
  return join(tmpdir(), prefixOf(mark));
}

/** What an earlier daemon of this installation left; nobody of it may be at work. */
export async function sweepScratch(installation: string): Promise<void> {
  const left = readdirSync(tmpdir()).filter((name) => name.startsWith(prefixOf(installation)));
  for (const name of left) await removeTree(join(tmpdir(), name));
}

function prefixOf(installation: string): string {
  return `carrel-git-${installation}-`;
}
