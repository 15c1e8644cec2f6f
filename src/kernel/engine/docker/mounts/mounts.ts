/**
 * Turns the mounts of a launch into mounts of the Docker Engine. Working copies become `local` volumes of type overlay.
 * The engine takes the layers as one string of options, so they are named by links in the engine's folder, whose path
 * has no special characters. Volumes of users keep their names.
 */
import { symlinkSync, writeFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import type { MountSettings } from 'dockerode';
import { Fault } from '../../../../model/fault.ts';
import type { Mount } from '../../../../model/mount.ts';
import { accountFiles } from '../../accounts.ts';
import { outerMounts } from '../../local/stage/nested.ts';
import type { DockerIdentity, FolderOwner } from './identity.ts';
import type { NamedVolume } from './named-volume.ts';
import { giveTo, type IdMaps, isEmpty, type MountSources, ownerOf } from './source.ts';
import type { IsMountedByDaemon } from './stage.ts';
import type { View } from './view.ts';

type OverlayMount = Extract<Mount, { kind: 'overlay' }>;
type TmpfsMount = Extract<Mount, { kind: 'tmpfs' }>;

export interface MountPlan {
  /** The folder of this sandbox, below the engine's. */
  readonly folder: string;
  readonly maps: IdMaps;
  readonly view: View;
  readonly sources: MountSources;
  /** Mounts inside another mount are already attached at its source. */
  readonly nested: boolean;
  /**
   * Read-only sources are mounted read-only already. A user namespace that the engine does not know of cannot remount
   * them read-only.
   */
  readonly sealed: boolean;
  /** The named volumes, by the index of the mount. */
  readonly named: ReadonlyMap<number, NamedVolume>;
  /** Which overlays are mounted at their sources already. */
  readonly isMountedByDaemon: IsMountedByDaemon;
  /** The process that reads the layers can only see extended attributes named `user.`. */
  readonly userMarks: boolean;
  readonly volumeName: (index: number) => string;
  /** The paths at which the image declares volumes. */
  readonly imageVolumes: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

export interface DockerMounts {
  readonly mounts: readonly MountSettings[];
  readonly tmpfs: Readonly<Record<string, string>>;
}

/**
 * The folders whose owner must be agent. An overlay with an empty lower layer is left out: it belongs to the owner of
 * its upper layer.
 */
export function ownedFolders(mounts: readonly Mount[], maps: IdMaps): FolderOwner[] {
  return mounts.flatMap((mount) => {
    if (mount.kind === 'tmpfs' || !mount.mapOwner) return [];
    const path = mount.kind === 'bind' ? mount.source : mount.lower;
    if (mount.kind === 'overlay' && isEmpty(path)) return [];
    return [{ path, owner: ownerOf(path, maps) }];
  });
}

export function prepareMounts(mounts: readonly Mount[], identity: DockerIdentity, plan: MountPlan): DockerMounts {
  const tmpfs = mounts.filter((mount): mount is TmpfsMount => mount.kind === 'tmpfs');
  const outer = plan.nested ? outerMounts(mounts) : mounts.map(() => null);
  const others = mounts.flatMap((mount, index) => {
    if (mount.kind === 'tmpfs' || outer[index] !== null) return [];
    if (mount.kind === 'overlay' && !plan.isMountedByDaemon(index)) return overlay(mount, index, identity, plan);
    const named = plan.named.get(index);
    const readonly = mount.kind === 'bind' && mount.readonly;
    if (named) return { ...named, Target: mount.target, ReadOnly: readonly };
    return bindSettings(plan.sources.source(index), mount.target, readonly && !plan.sealed);
  });
  return {
    mounts: [...accountMounts(identity, plan), ...imageVolumes(mounts, plan), ...others],
    tmpfs: Object.fromEntries(tmpfs.map((mount) => [mount.target, tmpfsOptions(mount)])),
  };
}

/** Mounts the image's volumes with their content from the image, read-only like the rest of the image. */
function imageVolumes(mounts: readonly Mount[], plan: MountPlan): MountSettings[] {
  const isTaken = (path: string) => mounts.some(({ target }) => target === normalize(path).replace(/(.)\/$/, '$1'));
  const free = plan.imageVolumes.filter((path) => !isTaken(path));
  return free.map((path, index) => {
    const Source = plan.volumeName(mounts.length + index);
    const VolumeOptions = { NoCopy: false, Labels: { ...plan.labels }, DriverConfig: { Name: 'local', Options: {} } };
    return { Type: 'volume', Source, Target: path, ReadOnly: true, VolumeOptions };
  });
}

function tmpfsOptions({ mode, sizeBytes }: TmpfsMount): string {
  return `rw,exec,nosuid,nodev,mode=${mode.toString(8)},size=${sizeBytes}`;
}

function bindSettings(source: string, target: string, readonly: boolean): MountSettings {
  const BindOptions = { Propagation: 'rprivate' as const };
  return { Type: 'bind', Source: source, Target: target, ReadOnly: readonly, BindOptions };
}

function overlay(mount: OverlayMount, index: number, { outside }: DockerIdentity, plan: MountPlan): MountSettings {
  giveTo(join(mount.folder, 'upper'), outside, plan.maps);
  return {
    Type: 'volume',
    Source: plan.volumeName(index),
    Target: mount.target,
    VolumeOptions: {
      NoCopy: true,
      Labels: plan.labels,
      DriverConfig: {
        Name: 'local',
        Options: { type: 'overlay', device: 'overlay', o: overlayOptions(index, plan) },
      },
    },
  } as MountSettings;
}

/**
 * The changes must depend on nothing but names: the base may be edited while it is mounted, and the daemon reads
 * changes without a mount. The options ensure that.
 */
function overlayOptions(index: number, { folder, sources, view, userMarks }: MountPlan): string {
  const link = (name: string, target: string) => {
    const path = join(folder, `${index}-${name}`);
    symlinkSync(target, path);
    return plainPath(view(path));
  };
  const layers = [
    `lowerdir=${link('lower', sources.source(index))}`,
    `upperdir=${link('upper', join(sources.changes(index), 'upper'))}`,
    `workdir=${link('work', join(sources.changes(index), 'work'))}`,
  ];
  const marks = userMarks ? ['userxattr'] : ['index=off', 'metacopy=off', 'redirect_dir=off'];
  return [...layers, ...marks, 'nosuid', 'nodev'].join(',');
}

/** Commas, colons and backslashes have a meaning in the options of an overlay. */
function plainPath(path: string): string {
  if (/^[\w/.@+-]+$/.test(path)) return path;
  throw new Fault('unsupported', `no working copy can be made below ${path} by a Docker Engine`, {
    hint: 'Set CARREL_HOME to a path of letters, digits and /._@+- alone.',
  });
}

/** Account files that give agent a name, whatever its id is. */
function accountMounts({ inside: { uid, gid } }: DockerIdentity, { folder, view }: MountPlan): MountSettings[] {
  return Object.entries(accountFiles(uid, gid)).map(([name, text]) => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o644 });
    return bindSettings(view(path), `/etc/${name}`, true);
  });
}
