/**
 * Volumes of users under the names that they have everywhere. Their content is in our folders, whichever engine mounts
 * them; what the Docker Engine keeps is the name, who it belongs to, and where that folder is. It goes with the last
 * container that has it, and no content with it.
 */
import { statSync } from 'node:fs';
import type { MountSettings } from 'dockerode';
import type { Mount } from '../../model/mount.ts';
import { isOuter, outerMounts } from '../local/nested.ts';
import { type Connection, hasActiveMounts, statusOf } from './connection.ts';
import type { Owner } from './identity.ts';
import { labels } from './naming.ts';
import type { View } from './view.ts';

export type NamedVolume = Pick<MountSettings, 'Type' | 'Source' | 'VolumeOptions'>;

export interface NamingInput {
  readonly connection: Connection;
  readonly installation: string;
  /** Outside. */
  readonly agent: Owner;
  readonly view: View;
}

/**
 * Of those mounts that are volumes of agent's own; what belongs to others has to be shown as agent's, under no name. So is
 * what is inside of another one, or has another one inside.
 */
export async function nameVolumes(
  mounts: readonly Mount[],
  input: NamingInput,
): Promise<ReadonlyMap<number, NamedVolume>> {
  const named = new Map<number, NamedVolume>();
  const outer = outerMounts(mounts);
  for (const [index, mount] of mounts.entries()) {
    if (outer[index] !== null || isOuter(outer, index)) continue;
    if (mount.kind !== 'bind' || mount.volume === undefined || statSync(mount.source).uid !== input.agent.uid) continue;
    const volume = await nameVolume(mount.volume, input.view(mount.source), input);
    if (volume) named.set(index, volume);
  }
  return named;
}

/** Null where somebody else, another installation perhaps, has given the name to something else, or the engine has lost count. */
async function nameVolume(
  name: string,
  device: string,
  { connection, installation }: NamingInput,
): Promise<NamedVolume | null> {
  const Labels = { [labels.installation]: installation, [labels.volume]: name };
  const Options = { type: 'none', o: 'bind', device };
  const order = { Name: name, Driver: 'local', DriverOpts: Options, Labels };
  // As it answers: the name may go with another sandbox before it could be asked again.
  const made = (await connection.send('/volumes/create', order)) as { readonly Options?: { readonly device?: string } };
  if (made.Options?.device !== device || (await isMiscounted(connection, name))) return null;
  const DriverConfig = { Name: 'local', Options };
  return { Type: 'volume', Source: name, VolumeOptions: { NoCopy: true, Labels, DriverConfig } };
}

/**
 * An engine whose containers outlived it may keep a volume mounted that nobody has, and with it the folder of before. Asked to
 * remove it, it says so. What is in use it does not remove, and what it does remove is made again with the container.
 */
async function isMiscounted(connection: Connection, name: string): Promise<boolean> {
  try {
    await connection.find((docker) => docker.getVolume(name).remove());
    return false;
  } catch (error) {
    if (statusOf(error) === 409) return false;
    if (hasActiveMounts(error)) return true;
    throw error;
  }
}
