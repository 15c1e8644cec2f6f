/** Prepares the root filesystem that the user named: a directory is used as it is, a tarball is unpacked once. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, mkdtempSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Root } from '../../../kernel/engine/engine.ts';
import type { Places } from '../../../kernel/home/places.ts';
import { isErrno, removeTree } from '../../../lib/file/file.ts';
import { run } from '../../../lib/process/run.ts';
import { Fault } from '../../../model/fault.ts';

const unpackTimeoutMs = 600_000;

export async function prepareRoot(rootfs: string | null, places: Places): Promise<Root> {
  if (rootfs === null) return { kind: 'host' };
  const stat = statSync(rootfs, { throwIfNoEntry: false });
  if (!stat) throw new Fault('invalid', `the root filesystem ${rootfs} does not exist`);
  if (stat.isDirectory()) return { kind: 'directory', path: rootfs };
  if (!stat.isFile()) throw new Fault('invalid', `the root filesystem ${rootfs} is neither a folder nor an archive`);
  return { kind: 'directory', path: await unpacked(rootfs, places) };
}

/** The folder has the digest of the archive as its name, so each content is unpacked once. */
async function unpacked(archive: string, places: Places): Promise<string> {
  const target = join(places.images, await digest(archive));
  if (existsSync(target)) return target;
  mkdirSync(places.images, { recursive: true, mode: 0o711 });
  const temporary = mkdtempSync(join(places.images, 'unpacking-'));
  try {
    await unpack(archive, join(temporary, 'root'));
    putInPlace(join(temporary, 'root'), target);
  } finally {
    await removeTree(temporary);
  }
  return target;
}

/** If another start has unpacked the same archive meanwhile, its folder is used: it has the same content. */
function putInPlace(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!isErrno(error, 'ENOTEMPTY') && !isErrno(error, 'EEXIST')) throw error;
  }
}

async function unpack(archive: string, target: string): Promise<void> {
  mkdirSync(target, { mode: 0o755 });
  const argv = [
    'tar',
    '-x',
    '-f',
    archive,
    '-C',
    target,
    '--no-same-owner',
    '--exclude=dev/*',
    '--exclude=./dev/*',
  ] as const;
  const { exitCode, stderr } = await run(argv, unpackTimeoutMs);
  if (exitCode === 0) return;
  throw unpackFault(archive, stderr);
}

/** Uses the first line of tar's output: it names the problem, while the last line only says that there was one. */
export function unpackFault(archive: string, stderr: string): Fault {
  if (/No space left/.test(stderr)) {
    return new Fault('exhausted', `no space left to unpack ${archive}`, { hint: 'Free some space: carrel rm NAME' });
  }
  const [first = ''] = stderr.trim().split('\n');
  const isOther = /does not look like a tar|not recogni|not in \w+ format/i.test(stderr);
  const message = isOther
    ? `${archive} is not a tar archive`
    : `cannot unpack ${archive}: ${first.replace(/^(\S*: )?tar: /, '')}`;
  return new Fault('invalid', message, {
    hint: 'Give a directory, or a tar archive of a root filesystem (gzip, xz and zstd are understood).',
  });
}

async function digest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
