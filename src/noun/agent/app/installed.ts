/** Programs of agents in the volume that `carrel agent install` fills: one folder a version, and a link to the one in use. */
import { readlinkSync } from 'node:fs';
import { Anchor, within } from '../../../lib/file/anchor.ts';
import { installVolume } from '../model/agent.ts';

interface UserVolumes {
  list(all: boolean): readonly { readonly name: string; readonly label: string | null }[];
}

/** The version of an agent's program that sandboxes of the user get; null: none. */
export function installedVersion(
  volumes: UserVolumes,
  folderOf: (volume: string) => string,
  agent: string,
): string | null {
  const volume = volumes.list(false).find(({ label }) => label === installVolume);
  return volume === undefined ? null : versionIn(folderOf(volume.name), agent);
}

/** Sandboxes can write the volume, so no link is followed. */
function versionIn(volume: string, agent: string): string | null {
  try {
    return within(Anchor.reach(volume), (top) =>
      within(top.enter(agent), (folder) => {
        const version = readlinkSync(folder.at('current'));
        return /^\d[\w.+-]{0,63}$/.test(version) ? version : null;
      }),
    );
  } catch {
    // There is no such folder or link, ignoring.
    return null;
  }
}
