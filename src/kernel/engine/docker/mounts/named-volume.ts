/**
 * Volumes of users under their own names. Their content is in folders of the installation, whichever engine mounts
 * them. The Docker Engine keeps only the name, the owner and the path of the folder. The name is removed with the last
 * container that uses it; the content stays.
 */
import { statSync } from 'node:fs';
import type { MountSettings } from 'dockerode';
import type { Mount } from '../../../../model/mount.ts';
import { isOuter, outerMounts } from '../../local/stage/nested.ts';
import { type Connection, hasActiveMounts, statusOf } from '../connection/connection.ts';
import { labels } from '../naming.ts';
import type { HostOwner } from './identity.ts';
import type { View } from './view.ts';

export type NamedVolume = Pick<MountSettings, 'Type' | 'Source' | 'VolumeOptions'>;

export interface NamingInput {
  readonly connection: Connection;
  readonly installation: string;
  /** The host ids of agent. */
  readonly agent: HostOwner;
  readonly view: View;
}

/**
 * Names those mounts that are volumes owned by agent. A volume with another owner needs an id-mapped mount and has no
 * name in the engine, and neither has one that is nested in another or contains another.
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

/** Null: another installation or user has taken the name, or the engine miscounts the users of the volume. */
async function nameVolume(
  name: string,
  device: string,
  { connection, installation }: NamingInput,
): Promise<NamedVolume | null> {
  const Labels = { [labels.installation]: installation, [labels.volume]: name };
  const Options = { type: 'none', o: 'bind', device };
  const order = { Name: name, Driver: 'local', DriverOpts: Options, Labels };
  // The answer is used, as the name may be removed with another sandbox before another request.
  const made = (await connection.send('/volumes/create', order)) as { readonly Options?: { readonly device?: string } };
  if (made.Options?.device !== device || (await isMiscounted(connection, name))) return null;
  const DriverConfig = { Name: 'local', Options };
  return { Type: 'volume', Source: name, VolumeOptions: { NoCopy: true, Labels, DriverConfig } };
}

/**
 * An engine that restarted while its containers ran may keep an unused volume mounted, with its old folder. A request
 * to remove the volume shows that. The engine refuses to remove a volume in use, and creates a removed volume again
 * with the container.
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
