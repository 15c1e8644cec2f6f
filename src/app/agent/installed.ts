/** Programs of agents in the volume that `carrel agent install` fills: one folder a version, and a link to the one in use. */
import { readlinkSync } from 'node:fs';
import { Anchor, within } from '../../lib/anchor.ts';

/** The version in use; null: none. Sandboxes can write the volume, so no link is followed. */
export function installedVersion(volume: string, agent: string): string | null {
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
