/** A frozen base needs no space on a filesystem that can share blocks. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Installation } from '../harness/installation.ts';
import { installation, people } from './machine.ts';

const MiB = 1024 ** 2;
const sizeBytes = 64 * MiB;

const places = people.flatMap(([person, account]) =>
  [
    ['/btrfs', true],
    ['/xfs', true],
    ['/ext4', false],
  ].map(([folder, shares]) => ({ person, account, folder: folder as string, shares: shares as boolean })),
);

function usedBytes(folder: string): number {
  execFileSync('sync', ['--file-system', folder]);
  const { blocks, bfree, bsize } = statfsSync(folder);
  return (blocks - bfree) * bsize;
}

describe.each(places)('$folder, $person', ({ account, folder, shares }) => {
  let carrel: Installation;
  let project: string;
  beforeAll(async () => {
    carrel = await installation(account, folder);
    project = carrel.folder('project');
    execFileSync('sh', ['-c', `head -c ${sizeBytes} /dev/urandom > big`], { cwd: project });
    account?.prepareHome(join(project, 'big'));
  });
  afterAll(() => carrel.dispose());

  it(shares ? 'a frozen base shares its blocks with the project' : 'a frozen base is a copy', async () => {
    const before = usedBytes(folder);
    await carrel.ok('create', '--base', 'frozen', '--name', 'still', project, '--', 'sleep', 'infinity');
    const grown = usedBytes(folder) - before;
    const base = execFileSync('find', [carrel.home, '-name', 'big'], { encoding: 'utf8' }).trim();
    expect(existsSync(base)).toBe(true);
    const extents = execFileSync('filefrag', ['-v', base], { encoding: 'utf8' });
    if (shares) {
      expect(grown).toBeLessThan(16 * MiB);
      expect(extents).toMatch(/shared/);
    } else {
      expect(grown).toBeGreaterThan(sizeBytes);
      expect(extents).not.toMatch(/shared/);
    }
  });

  it('a frozen base does not change with the project', async () => {
    writeFileSync(join(project, 'big'), 'small');
    expect(readdirSync(project)).toEqual(['big']);
    expect(await carrel.ok('exec', 'still', '--', 'stat', '-c', '%s', '/workspace/big')).toBe(`${sizeBytes}\n`);
  });
});
