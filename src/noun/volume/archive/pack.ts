/** Packs the content of a volume into one compressed stream, written into an open file. */
import { createHash } from 'node:crypto';
import { closeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { failed, type Program, type ProgramEnd, start } from '../../../lib/process/program.ts';
import { run } from '../../../lib/process/run.ts';
import { pipe } from '../../../lib/sys/sys.ts';
import { isFault } from '../../../model/fault.ts';
import type { OnProgress } from '../work-list.ts';
import { lookForSpecial, tooLong } from './special.ts';

export type Compression = 'zstd' | 'gzip';

export interface Packed {
  readonly bytes: number;
  readonly sha256: string;
  readonly notes: readonly string[];
}

/** `zstd` if it is installed, else `gzip`. */
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

export const marks = ['--xattrs', '--xattrs-include=user.*', '--numeric-owner'] as const;
const times = '--pax-option=delete=atime,delete=ctime';
/** Large blocks: every write wakes the compressor. */
const pieces = '--blocking-factor=128';
const form = [
  ...['--format=pax', times, '--sparse', pieces],
  ...['--one-file-system', '--anchored', `--exclude=${tooLong}`],
] as const;

/**
 * Writes to an empty file, from `position` on. `tar` descends through open folders, so a folder that is replaced by a
 * link meanwhile does not lead it out of the volume.
 */
export async function pack(
  folder: string,
  file: FileHandle,
  position: number,
  by: Compression,
  onProgress: OnProgress,
): Promise<Packed> {
  await file.write(Buffer.alloc(position));
  const [tar, compressor] = startPacking(folder, file, by);
  const stop = (error: unknown) => {
    for (const { child } of [tar, compressor]) child.kill('SIGKILL');
    throw error;
  };
  const hashing = hashGrowing(file, position, compressor.ended, onProgress);
  const both = [lookForSpecial(folder).catch(stop), hashing.catch(stop)] as const;
  const [special, written] = await Promise.all(both).finally(() => Promise.allSettled(both));
  const [tarEnded, compressorEnded] = await Promise.all([tar.ended, compressor.ended]);
  if (!isPacked(tarEnded)) throw failed(tar, tarEnded);
  if (compressorEnded.exitCode !== 0) throw failed(compressor, compressorEnded);
  return { ...written, notes: [...special, ...changes(tarEnded)] };
}

/** The compressor writes to the file itself, at its current position: a process in between would cost time. */
function startPacking(folder: string, file: FileHandle, by: Compression): [Program, Program] {
  const [read, write] = pipe();
  try {
    const tar = start(['tar', '--create', '--directory', folder, ...form, ...marks, '.'], ['ignore', write, 'pipe']);
    return [tar, start(compress[by], [read, file.fd, 'pipe'])];
  } finally {
    closeSync(read);
    closeSync(write);
  }
}

/** Errors of tar about a file that was replaced by one of another kind while tar was reading. */
const replaced = /: Cannot (readlink: Invalid argument|open: (Not a directory|Too many levels of symbolic links))$/;
const summary = /: Exiting with failure status due to previous errors$/;

/** Exit code 1: something changed while it was read. For some of such changes tar exits with 2. */
function isPacked({ exitCode, stderr }: ProgramEnd): boolean {
  if (exitCode <= 1) return true;
  const lines = stderr.trim().split('\n');
  return exitCode === 2 && lines.some((line) => replaced.test(line)) && lines.every(isOfChange);
}

function isOfChange(line: string): boolean {
  return replaced.test(line) || summary.test(line) || /: (file changed as we read it|File removed before)/i.test(line);
}

function changes({ exitCode, stderr }: ProgramEnd): string[] {
  return exitCode === 0 ? [] : [`changed while it was read: ${stderr.trim().split('\n')[0]}`];
}

const syncEveryBytes = 64 * 1024 * 1024;
const chunkBytes = 1024 * 1024;
const pauseMs = 20;

/** Reads and syncs a file that another process is still writing, so that nothing is left to do at the end. */
async function hashGrowing(
  file: FileHandle,
  position: number,
  end: Promise<unknown>,
  onProgress: OnProgress,
): Promise<Omit<Packed, 'notes'>> {
  const [hash, buffer] = [createHash('sha256'), Buffer.alloc(chunkBytes)];
  let [bytes, synced, syncing, isOver] = [0, 0, Promise.resolve(), false];
  const over = () => {
    isOver = true;
  };
  const ended = end.then(over, over);
  for (let wasOver = isOver; ; wasOver = isOver) {
    const { bytesRead } = await file.read(buffer, 0, chunkBytes, position + bytes);
    if (bytesRead === 0 && wasOver) break;
    if (bytesRead === 0) await Promise.race([ended, sleep(pauseMs)]);
    hash.update(buffer.subarray(0, bytesRead));
    bytes += bytesRead;
    onProgress(bytesRead);
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
