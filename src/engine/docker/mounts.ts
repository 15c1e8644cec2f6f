/**
 * From the mounts of a launch to what the Docker Engine takes. Working copies become volumes of its own driver that are
 * overlays; it wants their layers in one text of options, so they go by links in a folder of ours, whose path is plain.
 */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MountSettings } from 'dockerode';
import { Fault } from '../../model/fault.ts';
import type { Mount } from '../../model/mount.ts';
import type { Identity, Owned } from './identity.ts';
import { checkSource, giveFilesTo, giveTo, type IdMaps, isEmpty, ownerOf } from './source.ts';

type BindMount = Extract<Mount, { kind: 'bind' }>;
type OverlayMount = Extract<Mount, { kind: 'overlay' }>;
type TmpfsMount = Extract<Mount, { kind: 'tmpfs' }>;

export interface MountPlan {
  /** Of this sandbox alone, below the engine's own. */
  readonly folder: string;
  readonly maps: IdMaps;
  /** Whoever reads the layers can see names under `user.` only. */
  readonly userMarks: boolean;
  readonly volumeName: (index: number) => string;
  readonly labels: Readonly<Record<string, string>>;
  /** By the number of a mount, where the engine finds it or what it lies on: checked, given to agent and shown as agent's. */
  readonly shown: ReadonlyMap<number, string>;
}

export interface DockerMounts {
  readonly mounts: readonly MountSettings[];
  readonly tmpfs: Readonly<Record<string, string>>;
}

/** The folders whose owner is to be agent. An overlay on nothing belongs to whoever its upper layer does. */
export function ownedFolders(mounts: readonly Mount[], maps: IdMaps): Owned[] {
  return mounts.flatMap((mount) => {
    if (mount.kind === 'tmpfs' || !mount.mapOwner) return [];
    const path = mount.kind === 'bind' ? mount.source : mount.lower;
    if (mount.kind === 'overlay' && isEmpty(path)) return [];
    return [{ path, owner: ownerOf(path, maps) }];
  });
}

export function prepareMounts(mounts: readonly Mount[], identity: Identity, plan: MountPlan): DockerMounts {
  rmSync(plan.folder, { recursive: true, force: true });
  mkdirSync(plan.folder, { recursive: true, mode: 0o711 });
  const tmpfs = mounts.filter((mount): mount is TmpfsMount => mount.kind === 'tmpfs');
  const others = mounts.flatMap((mount, index) => {
    if (mount.kind === 'tmpfs') return [];
    return mount.kind === 'bind' ? bind(mount, index, identity, plan) : overlay(mount, index, identity, plan);
  });
  return {
    mounts: [...accountFiles(identity, plan), ...others],
    tmpfs: Object.fromEntries(tmpfs.map((mount) => [mount.target, tmpfsOptions(mount)])),
  };
}

function tmpfsOptions({ mode, sizeBytes }: TmpfsMount): string {
  return `rw,exec,nosuid,nodev,mode=${mode.toString(8)},size=${sizeBytes}`;
}

function bind(mount: BindMount, index: number, { outside }: Identity, { maps, shown }: MountPlan): MountSettings {
  const source = shown.get(index);
  if (source !== undefined) return bindSettings(source, mount.target, mount.readonly);
  checkSource(mount.source);
  if (mount.own) giveTo(mount.source, outside, maps);
  if (mount.own && mount.readonly) giveFilesTo(mount.source, outside, maps);
  return bindSettings(mount.source, mount.target, mount.readonly);
}

function bindSettings(source: string, target: string, readonly: boolean): MountSettings {
  const BindOptions = { Propagation: 'rprivate' as const };
  return { Type: 'bind', Source: source, Target: target, ReadOnly: readonly, BindOptions };
}

function overlay(mount: OverlayMount, index: number, { outside }: Identity, plan: MountPlan): MountSettings {
  if (!plan.shown.has(index)) checkSource(mount.lower);
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
        Options: { type: 'overlay', device: 'overlay', o: overlayOptions(mount, index, plan) },
      },
    },
  } as MountSettings;
}

/**
 * Nothing that would make the changes depend on more than names: the base may be edited meanwhile, and they are read
 * without a mount.
 */
function overlayOptions(mount: OverlayMount, index: number, plan: MountPlan): string {
  const link = (name: string, target: string) => {
    const path = join(plan.folder, `${index}-${name}`);
    symlinkSync(target, path);
    return plainPath(path);
  };
  const layers = [
    `lowerdir=${link('lower', plan.shown.get(index) ?? mount.lower)}`,
    `upperdir=${link('upper', join(mount.folder, 'upper'))}`,
    `workdir=${link('work', join(mount.folder, 'work'))}`,
  ];
  const marks = plan.userMarks ? ['userxattr'] : ['index=off', 'metacopy=off', 'redirect_dir=off'];
  return [...layers, ...marks, 'nosuid', 'nodev'].join(',');
}

/** Commas, colons and backslashes mean something in the options of an overlay. */
function plainPath(path: string): string {
  if (/^[\w/.@+-]+$/.test(path)) return path;
  throw new Fault('unsupported', `no working copy can be made below ${path} by a Docker Engine`, {
    hint: 'Set CARREL_HOME to a path of letters, digits and /._@+- alone.',
  });
}

/** So that agent has a name, whatever its number. */
function accountFiles({ inside: { uid, gid } }: Identity, { folder }: MountPlan): MountSettings[] {
  const files = {
    passwd: [
      'root:x:0:0:root:/root:/usr/sbin/nologin',
      `agent:x:${uid}:${gid}:agent:/home/agent:/bin/bash`,
      'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin',
    ],
    group: ['root:x:0:', 'tty:x:5:', `agent:x:${gid}:`, 'nogroup:x:65534:'],
  };
  return Object.entries(files).map(([name, lines]) => {
    const path = join(folder, name);
    writeFileSync(path, `${lines.join('\n')}\n`, { mode: 0o644 });
    return bindSettings(path, `/etc/${name}`, true);
  });
}
