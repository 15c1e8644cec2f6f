/** Volumes on a filesystem that can neither exchange names nor rename without replacing. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { SysError } from '../../src/lib/sys/sys.ts';
import { ada, at, VolumeBench } from '../fixtures/volume-bench.ts';

const EINVAL = 22;
const cannot = vi.hoisted(() => ({ tried: 0 }));
vi.mock('../../src/lib/sys/sys.ts', async (original) => {
  const refuse = () => {
    cannot.tried += 1;
    throw new SysError('renameat2', EINVAL);
  };
  return { ...(await original<object>()), renameExchange: refuse, renameNoReplace: refuse };
});

it('a backup and a restore work without these renames', async () => {
  const bench = new VolumeBench();
  try {
    bench.volumes.init('ada', at);
    bench.write('new', 'new');
    await bench.volumes.backup(ada, 'home', bench.file, at);
    rmSync(join(bench.home(), 'new'));
    bench.write('old', 'old');
    await bench.volumes.restore(ada, bench.file, at);
    expect(cannot.tried).toBe(2);
    expect([readdirSync(bench.home()), bench.litter()]).toEqual([['new'], []]);
  } finally {
    bench.dispose();
  }
});
