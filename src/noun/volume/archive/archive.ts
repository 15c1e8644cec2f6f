/**
 * The file format of a backup: a plain tar of two members, so that it can be inspected with tar.
 *
 *   manifest.json                        what it is, of a fixed size, with the checksum of what follows
 *   data.tar.zst or data.tar.gz          the content of the volume
 *
 * It is written under another name and renamed when it is complete and on disk; an existing file is never replaced.
 */
import { createHash, randomBytes } from 'node:crypto';
import { constants, existsSync, renameSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Anchor, within } from '../../../lib/file/anchor.ts';
import { isErrno, syncFolder } from '../../../lib/file/file.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { renameNoReplace, SysError } from '../../../lib/sys/sys.ts';
import { Fault } from '../../../model/fault.ts';
import type { Volume } from '../model.ts';
import type { OnProgress } from '../work-list.ts';
import { archiveFormat, type Manifest, manifestBytes, parseManifest, printManifest } from './manifest.ts';
import { blockBytes, damaged, makeHeader, padded } from './member.ts';
import { type Compression, chooseCompression, pack, writeAll } from './pack.ts';
import { unpack } from './unpack.ts';

const payloadStart = blockBytes + manifestBytes + blockBytes;
const payloadNames: { readonly [C in Compression]: string } = { zstd: 'data.tar.zst', gzip: 'data.tar.gz' };
const hint = 'Name a file here, or a backup of: carrel volume ls --backups';
export const unfinishedSuffix = '.partial';

export interface Written {
  readonly file: string;
  readonly bytes: number;
  /** What the backup does not contain, and what changed while it was made. */
  readonly notes: readonly string[];
}

export interface ArchiveFacts {
  readonly volume: Volume;
  readonly at: string;
  readonly version: string;
}

export async function writeArchive(
  folder: string,
  file: string,
  facts: ArchiveFacts,
  onProgress: OnProgress,
): Promise<Written> {
  if (existsSync(file)) throw taken(file);
  const temporary = join(dirname(file), `.${basename(file)}-${randomBytes(4).toString('hex')}${unfinishedSuffix}`);
  try {
    const written = await fill(folder, temporary, facts, onProgress);
    crashPoint('backup:written');
    publish(temporary, file);
    crashPoint('backup:published');
    return { file, ...written };
  } finally {
    await rm(temporary, { force: true });
  }
}

async function fill(folder: string, temporary: string, { volume, at, version }: ArchiveFacts, onProgress: OnProgress) {
  const handle = await open(temporary, 'wx+', 0o600);
  try {
    const compression = await chooseCompression();
    const { bytes, sha256, notes } = await pack(folder, handle, payloadStart, compression, onProgress);
    crashPoint('backup:packed');
    const { name, type, label, user, createdAt } = volume;
    const facts = {
      format: archiveFormat,
      volume: name,
      type,
      ...(label === undefined ? {} : { label }),
      owner: user,
      createdAt,
      backedUpAt: at,
      carrel: version,
    };
    await frame(handle, { ...facts, compression, payloadBytes: bytes, payloadSha256: sha256 });
    await handle.sync();
    return { bytes: sizeFor(bytes), notes };
  } finally {
    await handle.close();
  }
}

/** Writes everything around the payload. */
async function frame(handle: FileHandle, manifest: Manifest): Promise<void> {
  const at = new Date(manifest.backedUpAt);
  const head = [
    makeHeader('manifest.json', manifestBytes, at),
    printManifest(manifest),
    makeHeader(payloadNames[manifest.compression], manifest.payloadBytes, at),
  ];
  await writeAll(handle, Buffer.concat(head), 0);
  await handle.truncate(sizeFor(manifest.payloadBytes));
}

/** The size of the file, with the empty blocks at the end of a tar. */
function sizeFor(payloadBytes: number): number {
  return payloadStart + padded(payloadBytes) + 2 * blockBytes;
}

function publish(temporary: string, file: string): void {
  const folder = dirname(file);
  within(Anchor.open(folder), ({ fd: folderFd }) => {
    const [from, to] = [Buffer.from(basename(temporary)), Buffer.from(basename(file))];
    try {
      renameNoReplace({ folderFd, name: from }, { folderFd, name: to });
    } catch (error) {
      if (isErrno(error, 'EEXIST')) throw taken(file);
      if (!(error instanceof SysError && error.code === 'EINVAL')) throw error;
      renameSync(temporary, file);
    }
  });
  syncFolder(folder);
}

function taken(file: string): Fault {
  return new Fault('conflict', `${file} exists already`, { hint: 'Give another name.' });
}

export interface VolumeArchive {
  readonly manifest: Manifest;
  /** The size of the file. */
  readonly bytes: number;
  /** Rejects with `invalid` unless every byte is as it was written. */
  verify(onProgress: OnProgress): Promise<void>;
  /** Unpacks into an empty folder. Returns notes on what was left out. */
  unpackInto(folder: string, onProgress: OnProgress): Promise<readonly string[]>;
  close(): Promise<void>;
}

export async function openArchive(file: string): Promise<VolumeArchive> {
  const handle = await openFile(file);
  try {
    const manifest = await readManifest(handle);
    return {
      manifest,
      bytes: sizeFor(manifest.payloadBytes),
      verify: (onProgress) => verify(payloadOf(handle, manifest, onProgress), manifest),
      unpackInto: (folder, onProgress) => unpack(payloadOf(handle, manifest, onProgress), manifest.compression, folder),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Does not block if there is a pipe at that path. */
async function openFile(file: string): Promise<FileHandle> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch((error) => {
    if (isErrno(error, 'ENOENT')) throw new Fault('not_found', `${file} does not exist`, { hint });
    throw new Fault('invalid', `${file} cannot be opened`, { cause: error });
  });
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new Fault('invalid', `${file} is not a file`);
}

async function readManifest(handle: FileHandle): Promise<Manifest> {
  const { size } = await handle.stat();
  const head = Buffer.alloc(payloadStart);
  await handle.read(head, 0, head.length, 0);
  if (head.toString('latin1', 0, 14) !== 'manifest.json\0')
    throw new Fault('invalid', 'this is not a backup of a volume', { hint });
  if (size < payloadStart) throw damaged('it ends too early');
  const manifest = parseManifest(head.subarray(blockBytes, blockBytes + manifestBytes));
  if (size !== sizeFor(manifest.payloadBytes)) throw damaged('it is not as long as it was');
  return manifest;
}

async function verify(payload: AsyncIterable<Buffer>, manifest: Manifest): Promise<void> {
  const hash = createHash('sha256');
  for await (const chunk of payload) hash.update(chunk);
  if (hash.digest('hex') !== manifest.payloadSha256) throw damaged('its checksum is another one');
}

const chunkBytes = 1024 * 1024;

async function* payloadOf(
  handle: FileHandle,
  { payloadBytes }: Manifest,
  onProgress: OnProgress,
): AsyncGenerator<Buffer> {
  for (let done = 0; done < payloadBytes; ) {
    const chunk = Buffer.alloc(Math.min(chunkBytes, payloadBytes - done));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, payloadStart + done);
    if (bytesRead === 0) throw damaged('it ends too early');
    done += bytesRead;
    onProgress(bytesRead);
    yield chunk.subarray(0, bytesRead);
  }
}
