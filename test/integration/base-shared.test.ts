// @needs root
/** A frozen base shares its blocks with the project where the filesystem can: on real ones, in our own mount namespace. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { copyTree } from '../../src/noun/workspace/base.ts';

const MiB = 1024 ** 2;
const content = Buffer.alloc(32 * MiB, 'all of it has to be there ');

function usedBytes(folder: string): number {
  execFileSync('sync', ['--file-system', folder]);
  const { blocks, bfree, bsize } = statfsSync(folder);
  return (blocks - bfree) * bsize;
}

describe.each(['btrfs', 'xfs'])('on %s', (type) => {
  let folder: string;
  let disk: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'carrel-base-'));
    disk = join(folder, 'disk');
    mkdirSync(disk);
    writeFileSync(join(folder, 'image'), '');
    truncateSync(join(folder, 'image'), 512 * MiB);
    execFileSync(`mkfs.${type}`, ['-q', join(folder, 'image')]);
    execFileSync('mount', ['-o', 'loop', join(folder, 'image'), disk]);
  });
  afterEach(() => {
    execFileSync('umount', [disk]);
    rmSync(folder, { recursive: true });
  });

  it('a copied base takes no space, and does not change with the project', async () => {
    const [project, base] = [join(disk, 'project'), join(disk, 'base')];
    mkdirSync(project);
    writeFileSync(join(project, 'big'), content);
    const before = usedBytes(disk);
    await copyTree(project, base);
    expect(usedBytes(disk) - before).toBeLessThan(4 * MiB);
    expect(execFileSync('filefrag', ['-v', join(base, 'big')], { encoding: 'utf8' })).toMatch(/shared/);
    writeFileSync(join(project, 'big'), 'small');
    expect(readFileSync(join(base, 'big')).equals(content)).toBe(true);
  });
});
