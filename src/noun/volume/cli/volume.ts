/** Shared by the commands about volumes. */

import { age } from '../../../client/output/age.ts';
import { plain } from '../../../client/output/text.ts';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import type { VolumeView } from '../api.ts';
import { labelPattern, volumeNamePattern } from '../model.ts';

/** Checks the name of a volume: a type, or a whole name. */
export function checkVolume(name: string): string {
  if (volumeNamePattern.test(name)) return name;
  throw new Fault('invalid', `${printable(name)} is not a name for a volume`, {
    hint: 'See: carrel volume ls. A type, such as memory-bank, names your volume of that type.',
  });
}

/** The name that commands show and accept. */
export function nameCell({ name, label }: Pick<VolumeView, 'name' | 'label'>): string {
  return plain(label ?? name);
}

/** Checks a name for a new volume; the daemon checks that it is free and not a type. */
export function newVolume(name: string): string {
  if (labelPattern.test(name)) return name;
  throw new Fault('invalid', `${printable(name)} cannot be the name of a volume`, {
    hint: 'Use 1 to 63 of a-z, 0-9 and "-", starting with a letter or digit.',
  });
}

export function ownerCell({ user }: Pick<VolumeView, 'user'>): string {
  return user === null ? 'shared' : plain(user);
}

export function lastUseCell({ lastUsedAt }: VolumeView, now?: number): string {
  return lastUsedAt === null ? 'never' : `${age(lastUsedAt, now)} ago`;
}
