/** Volumes under older names: without the hash of a user, under another prefix, or made by HAL-9000. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../../model/fault.ts';
import { isPlainFolder } from './folder.ts';
import {
  defaultVolumePrefix,
  isShared,
  isVolumeType,
  labelKey,
  labelPattern,
  typeKey,
  type VolumeKey,
} from './model.ts';

export interface OldVolume {
  readonly name: string;
  /** The folder with its content. */
  readonly folder: string;
}

export interface OldName extends VolumeKey {
  /** Null: it was shared by all users. */
  readonly hash: string | null;
  /** The folder of the new volume for its content; empty: the volume itself. */
  readonly into: string;
}

const halPrefix = 'hal9000';

/** HAL-9000 kept the folder `.claude` of a home, not the home. */
const halTypes: Readonly<Record<string, Omit<OldName, 'hash'>>> = {
  'claude-home': { ...typeKey('home'), into: '.claude' },
  'claude-session': { ...typeKey('session'), into: '' },
  memorybank: { ...typeKey('memory-bank'), into: '' },
};

/** The folder `.claude` of one of its workers, hal9000-claude-NAME, becomes the named volume claude-NAME. */
function worker(name: string): OldName | null {
  const rest = new RegExp(`^${halPrefix}-(claude-.+)$`).exec(name)?.[1];
  const label = rest?.toLowerCase().replace(/[^a-z0-9-]/g, '-') ?? '';
  return labelPattern.test(label) ? { ...labelKey(label), hash: null, into: '' } : null;
}

/** Null: not an old volume, or one that has its right name already. */
export function parseOldName(name: string, prefix: string): OldName | null {
  for (const former of [prefix, defaultVolumePrefix, halPrefix]) {
    const { word, hash } = split(name, former);
    const known = former === halPrefix && Object.hasOwn(halTypes, word) ? halTypes[word]! : plain(word);
    if (!known || (isShared(known.type) && hash !== null)) continue;
    const isCurrent = former === prefix && word === known.type && (hash !== null || isShared(known.type));
    return isCurrent ? null : { ...known, hash };
  }
  return prefix === halPrefix ? null : worker(name);
}

function split(name: string, prefix: string): { word: string; hash: string | null } {
  const rest = name.startsWith(`${prefix}-`) ? name.slice(prefix.length + 1) : '';
  const [, word = '', hash = null] = /^([a-z-]+?)(?:-([0-9a-f]{8}))?$/.exec(rest) ?? [];
  return { word, hash };
}

function plain(word: string): Omit<OldName, 'hash'> | null {
  return isVolumeType(word) ? { ...typeKey(word), into: '' } : null;
}

/** The old volumes in a folder, which may be the folder of Docker's volumes. */
export function findOldVolumes(source: string, prefix: string): readonly OldVolume[] {
  if (!isPlainFolder(source)) throw new Fault('not_found', `${source} is not a folder`);
  return readdirSync(source)
    .filter((name) => parseOldName(name, prefix) !== null && isPlainFolder(join(source, name)))
    .map((name) => ({ name, folder: contentOf(join(source, name)) }));
}

/** Volumes with a name of HAL-9000 that are of no known type, with the reason, so that none is skipped silently. */
export function findUnknown(source: string, prefix: string): readonly { name: string; reason: string }[] {
  if (prefix === halPrefix) return [];
  return readdirSync(source)
    .filter((name) => name.startsWith(`${halPrefix}-`))
    .flatMap((name) => {
      if (!isPlainFolder(join(source, name))) return [{ name, reason: 'it is not a folder' }];
      return parseOldName(name, prefix) === null ? [{ name, reason: 'no volume of HAL-9000 has such a name' }] : [];
    });
}

/** Docker keeps the content of a volume in a subfolder, and may keep its options beside that. */
function contentOf(folder: string): string {
  const inner = join(folder, '_data');
  const others = readdirSync(folder).filter((name) => name !== '_data' && name !== 'opts.json');
  return others.length === 0 && isPlainFolder(inner) ? inner : folder;
}
