/**
 * A volume: a named folder that outlives sandboxes and belongs to one user, or is shared.
 * The name carries a short hash of the user; the record has the user in full, so a hash that two users share is noticed.
 */
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { Fault } from '../../model/fault.ts';
import type { GrantKind } from '../../model/grant.ts';
import { printable } from '../../model/name.ts';

export const userVolumeTypes = ['home', 'memory-bank', 'tmux-sockets', 'coordinator-state', 'session'] as const;

/**
 * `chromadb` is mounted into no sandbox. `base-plugins` is mounted into all sandboxes, read-only; the owner of the
 * installation fills it.
 */
const sharedVolumeTypes = ['chromadb', 'base-plugins'] as const;

export type UserVolumeType = (typeof userVolumeTypes)[number];
export type SharedVolumeType = (typeof sharedVolumeTypes)[number];
export type VolumeType = UserVolumeType | SharedVolumeType;

/** `named`: created by its user under a name of their choice, any number of them. */
export type VolumeKind = VolumeType | 'named';

/** A volume of a user: the one of a type, or the named one with that label. */
export interface VolumeKey {
  readonly type: VolumeKind;
  /** Null: not a named one. */
  readonly label: string | null;
}

export const volumeTypes: readonly VolumeType[] = [...userVolumeTypes, ...sharedVolumeTypes];

/** The older volume that the content was migrated from. */
export interface MigratedFrom {
  readonly name: string;
  readonly folder: string;
  readonly at: string;
}

export interface Volume {
  readonly name: string;
  readonly type: VolumeKind;
  /** The user's name for the volume; only for named ones. */
  readonly label?: string;
  /** Null: shared. */
  readonly user: string | null;
  readonly createdAt: string;
  /** Null: no sandbox had it yet. */
  readonly lastUsedAt: string | null;
  readonly migratedFrom: MigratedFrom | null;
}

/** A request by `--volume NAME:PATH[:ro]`. */
export interface VolumeRequest {
  /** A type, the label of a named one, or a whole name. */
  readonly volume: string;
  /** A path inside the sandbox. */
  readonly target: string;
  readonly readonly?: boolean | undefined;
}

/** A volume in the spec of a sandbox. */
export interface VolumeMount {
  readonly name: string;
  readonly target: string;
  readonly readonly: boolean;
  /** True: the volume is the memory bank of the user, at its usual place, so the sandbox has its tools too. */
  readonly isBank?: true;
}

/** A type, a label, or a whole name. */
export const volumeNamePattern = /^[a-z0-9][a-z0-9-]{0,127}$/;

export const defaultVolumePrefix: string = 'carrel';
const prefixPattern = /^[a-z0-9][a-z0-9-]{0,31}$/;

export function checkVolumePrefix(prefix: string): string {
  if (prefixPattern.test(prefix)) return prefix;
  throw new Fault('invalid', `${printable(prefix)} cannot be the prefix of volumes`, {
    hint: 'Use 1 to 32 of a-z, 0-9 and "-", starting with a letter or digit.',
  });
}

/** The first 8 hex digits of the hash of a user's name, which make names of the user's volumes short. */
export function userHash(user: string): string {
  return createHash('sha256').update(user).digest('hex').slice(0, 8);
}

export function isVolumeType(text: string): text is VolumeType {
  return (volumeTypes as readonly string[]).includes(text);
}

export function isShared(type: string): type is SharedVolumeType {
  return (sharedVolumeTypes as readonly string[]).includes(type);
}

export function volumeName(prefix: string, type: VolumeType, user: string): string {
  return isShared(type) ? `${prefix}-${type}` : `${prefix}-${type}-${userHash(user)}`;
}

/** How many named volumes a user may have. */
export const maxNamedVolumes = 100;

export const labelPattern: RegExp = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Whole names begin with the prefix, and types are reserved, so neither can be a label. */
export function isVolumeLabel(label: string, prefix: string): boolean {
  return labelPattern.test(label) && !isVolumeType(label) && !label.startsWith(`${prefix}-`);
}

export function checkVolumeLabel(label: string, prefix: string): string {
  if (isVolumeLabel(label, prefix)) return label;
  const why = isVolumeType(label) ? 'is a type of volume, which is there by itself' : 'cannot be the name of a volume';
  throw new Fault('invalid', `${printable(label)} ${why}`, {
    hint: isVolumeType(label)
      ? 'Choose another name; carrel volume init makes the volumes of all types.'
      : `Use 1 to 63 of a-z, 0-9 and "-", starting with a letter or digit and not with "${prefix}-".`,
  });
}

export function typeKey(type: VolumeType): VolumeKey {
  return { type, label: null };
}

export function labelKey(label: string): VolumeKey {
  return { type: 'named', label };
}

export function nameOfKey(prefix: string, { type, label }: VolumeKey, user: string): string {
  return label === null ? volumeName(prefix, type as VolumeType, user) : `${prefix}-named-${userHash(user)}-${label}`;
}

const requestPattern = /^([^:]+):([^:]+)(:ro)?$/;

export function parseVolumeRequest(text: string): VolumeRequest {
  const [, volume, target, readonly] = requestPattern.exec(text) ?? [];
  if (volume === undefined || target === undefined || !isInsidePath(target)) {
    throw new Fault('invalid', `${printable(text)} does not say which volume goes where`, {
      hint: 'Write NAME:PATH or NAME:PATH:ro, with an absolute PATH, such as memory-bank:/data/memory-bank.',
    });
  }
  if (!volumeNamePattern.test(volume)) throw noVolumeName(volume);
  return { volume, target, readonly: readonly !== undefined };
}

export const volumeGrantKind: GrantKind<VolumeRequest, VolumeMount, 'volumes'> = {
  request: { volume: { pattern: volumeNamePattern }, target: 'path', readonly: { optional: 'boolean' } },
  most: 20,
  option: {
    flags: '-v, --volume <NAME:PATH>',
    summary: 'mount a volume, by type or name, at PATH; add :ro for read-only; may be repeated',
    completes: 'volumes',
    isForAgents: false,
  },
  declared: {
    ...{ key: 'volumes', word: 'volume', maxText: 4300 },
    description: 'Entries of `volumes` that it gets, as NAME:PATH or NAME:PATH:ro. Default: none.',
    example: ['cache:/cache', 'memory-bank:/data/memory-bank:ro'],
    texts: (requests) => requests.map(({ volume, target, readonly }) => `${volume}:${target}${readonly ? ':ro' : ''}`),
  },
  parse: parseVolumeRequest,
  nameOf: ({ volume }) => volume,
  /** The volume belongs to the user, and agent inside is mapped to that user. */
  mounts: ({ name, target, readonly }, at) => [
    { kind: 'bind', source: at.volume(name), target, readonly, volume: name, mapOwner: true },
  ],
  server: {
    ...{ name: 'memory-bank', program: 'carrel-memory-bank', args: [] },
    comesWith: ({ isBank }) => isBank === true,
  },
};

/** In other tools a folder of the host is allowed here, so the message says what to use instead. */
function noVolumeName(text: string): Fault {
  const isPath = /^[./~]/.test(text);
  return new Fault(
    'invalid',
    `${printable(text)} is ${isPath ? 'a folder of the host, not' : 'not the name of'} a volume`,
    {
      hint: isPath
        ? 'Give a sandbox a folder as its PROJECT, with --mode bind for the real one; carrel volume ls shows the volumes.'
        : 'Use a-z, 0-9 and "-", starting with a letter or digit; carrel volume ls shows the volumes.',
    },
  );
}

/** Whether a path is absolute, without `..` and control characters, and not the root. */
export function isInsidePath(path: string): boolean {
  return /^\/[^/\x00-\x1f\x7f][^\x00-\x1f\x7f]*$/.test(path) && posix.normalize(path) === path && !path.endsWith('/');
}
