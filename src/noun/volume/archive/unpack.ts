/** Unpacks a compressed stream of entries into a folder, checking each entry. */
import { pipeline } from 'node:stream/promises';
import { failed, type Program, start } from '../../../lib/process/program.ts';
import { isFault } from '../../../model/fault.ts';
import { damaged } from './member.ts';
import { MemberRule } from './member-rule.ts';
import { judged, spaced } from './member-stream.ts';
import { type Compression, marks } from './pack.ts';
import { noteOn } from './special.ts';

const decompress: { readonly [C in Compression]: readonly [string, ...string[]] } = {
  zstd: ['zstd', '-d', '-q', '-c'],
  gzip: ['gzip', '-d', '-c'],
};

/**
 * Unpacks into an empty folder, with the daemon as owner of every entry: ids of an archive are not ids of this machine.
 * Returns notes on what was left out.
 */
export async function unpack(payload: AsyncIterable<Buffer>, by: Compression, folder: string): Promise<string[]> {
  const rule = new MemberRule();
  const decompressor = start(decompress[by], ['pipe', 'pipe', 'pipe']);
  const kept = ['--no-same-owner', '--same-permissions', '--keep-old-files'];
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

/** The error that caused the others: a broken pipe only says that another program failed. */
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
