/** What an archive says about itself. It proves nothing: a person who can write the file can write any manifest. */
import { createHash } from 'node:crypto';
import { Fault } from '../../../model/fault.ts';
import { isShared, isVolumeType, labelPattern, type VolumeKind } from '../model.ts';
import { damaged } from './member.ts';
import type { Compression } from './pack.ts';

export const archiveFormat = 1;

export interface Manifest {
  readonly format: number;
  readonly volume: string;
  readonly type: VolumeKind;
  /** Only for named volumes. */
  readonly label?: string;
  /** The full name of the user; null: shared. */
  readonly owner: string | null;
  readonly createdAt: string;
  readonly backedUpAt: string;
  /** The version of Carrel that wrote it. */
  readonly carrel: string;
  readonly compression: Compression;
  readonly payloadBytes: number;
  readonly payloadSha256: string;
}

export const manifestBytes = 4096;

export function printManifest(manifest: Manifest): Buffer {
  const text = JSON.stringify({ ...manifest, manifestSha256: sumOf(manifest) });
  if (Buffer.byteLength(text) >= manifestBytes) throw new Fault('internal', 'the manifest of a backup is too long');
  const bytes = Buffer.alloc(manifestBytes, ' ');
  bytes.write(text);
  bytes.write('\n', manifestBytes - 1);
  return bytes;
}

export function parseManifest(bytes: Buffer): Manifest {
  const read = parseObject(bytes);
  const { format } = read;
  if (typeof format === 'number' && format > archiveFormat) {
    throw new Fault('unsupported', `this backup has format ${format}; this Carrel knows up to ${archiveFormat}`, {
      hint: 'A newer Carrel wrote it: use that one.',
    });
  }
  const wrong = Object.entries(checks).find(([key, check]) => !check(read[key]));
  if (wrong) throw damaged(`its manifest has no proper ${wrong[0]}`);
  const { manifestSha256, ...facts } = read;
  const manifest = facts as unknown as Manifest;
  if (manifestSha256 !== sumOf(manifest)) throw damaged('its manifest has another checksum');
  if ((manifest.type === 'named') !== (manifest.label !== undefined)) throw damaged('its manifest has no proper label');
  if (isShared(manifest.type) !== (manifest.owner === null)) throw damaged('its manifest has no proper owner');
  return manifest;
}

/** The checksum of all other fields, in their order. */
function sumOf(manifest: Manifest): string {
  return createHash('sha256').update(JSON.stringify(manifest)).digest('hex');
}

function parseObject(bytes: Buffer): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof read === 'object' && read !== null) return read as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw damaged('its manifest cannot be read');
}

const isText = (value: unknown) => typeof value === 'string';

const checks: { readonly [K in keyof Required<Manifest>]: (value: unknown) => boolean } = {
  format: (value) => value === archiveFormat,
  volume: isText,
  type: (value) => value === 'named' || (typeof value === 'string' && isVolumeType(value)),
  label: (value) => value === undefined || (typeof value === 'string' && labelPattern.test(value)),
  owner: (value) => value === null || isText(value),
  createdAt: isText,
  backedUpAt: isText,
  carrel: isText,
  compression: (value) => value === 'zstd' || value === 'gzip',
  payloadBytes: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  payloadSha256: (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
};
