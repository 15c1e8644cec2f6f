/** The content of a volume as one compressed stream into an open file, and back from there into a folder. */
import { createHash } from 'node:crypto';
import { closeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { run } from '../lib/run.ts';
import { pipe } from '../lib/sys.ts';
import { isFault } from '../model/fault.ts';
import { damaged } from './member.ts';
import { MemberRule } from './member-rule.ts';
import { judged, spaced } from './member-stream.ts';
import { type Ended, failed, type Program, start } from './program.ts';
import { lookForSpecial, noteOn, tooLong } from './special.ts';

export type Compression = 'zstd' | 'gzip';

export interface Packed {
  readonly bytes: number;
  readonly sha256: string;
  readonly notes: readonly string[];
}

/** The better one where it is installed. */
export async function chooseCompression(): Promise<Compression> {
  try {
    return (await run(['zstd', '--version'])).exitCode === 0 ? 'zstd' : 'gzip';
  } catch (error) {
    if (isFault(error, 'unsupported')) return 'gzip';
    throw error;
  }
}

const compress: { readonly [C in Compression]: readonly [string, ...string[]] } = {
  zstd: ['zstd', '-T0', '-q', '-c'],
  gzip: ['gzip', '-c'],
};

const decompress: { readonly [C in Compression]: readonly [string, ...string[]] } = {
  zstd: ['zstd', '-d', '-q', '-c'],
  gzip: ['gzip', '-d', '-c'],
};

const marks = ['--xattrs', '--xattrs-include=user.*', '--numeric-owner'] as const;
const times = '--pax-option=delete=atime,delete=ctime';
const form = ['--format=pax', times, '--sparse', '--one-file-system', '--anchored', `--exclude=${tooLong}`] as const;

/** `tar` goes down by open folders, so nothing that is swapped for a link meanwhile leads it out. */
export async function pack(folder: string, file: FileHandle, position: number, by: Compression): Promise<Packed> {
  const special = await lookForSpecial(folder);
  const [tar, compressor] = startPacking(folder, by);
  const written = await writeHashed(compressor.child.stdout!, file, position);
  const [tarEnded, compressorEnded] = await Promise.all([tar.ended, compressor.ended]);
  // 1: something changed while it was read.
  if (tarEnded.exitCode > 1) throw failed(tar, tarEnded);
  if (compressorEnded.exitCode !== 0) throw failed(compressor, compressorEnded);
  return { ...written, notes: [...special, ...changes(tarEnded)] };
}

function startPacking(folder: string, by: Compression): [Program, Program] {
  const [read, write] = pipe();
  try {
    const tar = start(['tar', '--create', '--directory', folder, ...form, ...marks, '.'], ['ignore', write, 'pipe']);
    return [tar, start(compress[by], [read, 'pipe', 'pipe'])];
  } finally {
    closeSync(read);
    closeSync(write);
  }
}

function changes({ exitCode, stderr }: Ended): string[] {
  return exitCode === 0 ? [] : [`changed while it was read: ${stderr.trim().split('\n')[0]}`];
}

const syncEveryBytes = 64 * 1024 * 1024;

/** Sent to disk on the way, so that nobody waits for all of it at the end. */
async function writeHashed(source: Readable, file: FileHandle, position: number): Promise<Omit<Packed, 'notes'>> {
  const hash = createHash('sha256');
  let [bytes, synced, syncing] = [0, 0, Promise.resolve()];
  for await (const chunk of source as AsyncIterable<Buffer>) {
    hash.update(chunk);
    await writeAll(file, chunk, position + bytes);
    bytes += chunk.length;
    if (bytes - synced < syncEveryBytes) continue;
    await syncing;
    synced = bytes;
    syncing = file.datasync();
    syncing.catch(() => {});
  }
  await syncing;
  return { bytes, sha256: hash.digest('hex') };
}

export async function writeAll(file: FileHandle, chunk: Buffer, position: number): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    done += (await file.write(chunk, done, chunk.length - done, position + done)).bytesWritten;
  }
}

/** Into an empty folder. Returns notes on what was left out. */
export async function unpack(payload: AsyncIterable<Buffer>, by: Compression, folder: string): Promise<string[]> {
  const rule = new MemberRule();
  const decompressor = start(decompress[by], ['pipe', 'pipe', 'pipe']);
  const kept = ['--same-owner', '--same-permissions', '--keep-old-files'];
  const tar = start(['tar', '--extract', '--directory', folder, ...kept, ...marks], ['pipe', 'ignore', 'pipe']);
  const feeding = pipeline(payload, decompressor.child.stdin!).catch(() => {});
  try {
    await pipeline(
      decompressor.child.stdout!,
      (source: AsyncIterable<Buffer>) => judged(source, rule),
      (source: AsyncIterable<Buffer>) => spaced(source, folder),
      tar.child.stdin!,
    );
  } catch (error) {
    throw await firstCause(error, tar, decompressor);
  }
  await feeding;
  await checkEnds(tar, decompressor);
  return rule.leftOut.size === 0 ? [] : [noteOn('pipe, deletion mark or path that is too long', [...rule.leftOut])];
}

/** A broken pipe only says that somebody else failed. */
async function firstCause(error: unknown, tar: Program, decompressor: Program): Promise<unknown> {
  if (isFault(error)) tar.child.kill('SIGKILL');
  decompressor.child.kill('SIGKILL');
  const [ended] = await Promise.all([tar.ended, decompressor.ended]);
  return isFault(error) ? error : failed(tar, ended);
}

async function checkEnds(tar: Program, decompressor: Program): Promise<void> {
  const [tarEnded, decompressorEnded] = await Promise.all([tar.ended, decompressor.ended]);
  if (decompressorEnded.exitCode !== 0) throw damaged(decompressorEnded.stderr.trim());
  if (tarEnded.exitCode !== 0) throw failed(tar, tarEnded);
}
