/** The leftovers of a killed benchmark are found by the id of its run, and removed. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { processRef } from '../../src/lib/process/process.ts';
import { isRealRoot } from '../harness/machine.ts';
import { reap } from '../reap.ts';

it.runIf(isRealRoot)(
  'processes, control groups and folders of a run are removed, and those of another run are not',
  async () => {
    const ids = [randomBytes(3).toString('hex'), randomBytes(3).toString('hex')] as const;
    const runs = ids.map((id) => ({ id, folder: join(tmpdir(), `carrel-${id}`), installations: [] }));
    const groups = ids.map((id) =>
      `/sys/fs/cgroup/pids/carrel-${id}-x`.replace('/pids', existsSync('/sys/fs/cgroup/pids') ? '/pids' : ''),
    );
    const pids = ids.map((id, n) => {
      mkdirSync(runs[n]!.folder);
      mkdirSync(`${groups[n]}/inner`, { recursive: true });
      const script = `echo $$ > ${groups[n]}/inner/cgroup.procs; exec sleep 1000`;
      const env = { PATH: process.env.PATH, CARREL_TEST_RUN: id };
      return Number(
        spawnSync('sh', ['-c', `sh -c '${script}' < /dev/null > /dev/null 2>&1 & echo $!`], { env, encoding: 'utf8' })
          .stdout,
      );
    });
    // During an exec of another program a process has no environment by which it could be found.
    const isAsleep = (n: number) =>
      readFileSync(`${groups[n]}/inner/cgroup.procs`, 'utf8').trim() === `${pids[n]}` &&
      readFileSync(`/proc/${pids[n]}/comm`, 'utf8') === 'sleep\n';
    await vi.waitFor(() => expect([isAsleep(0), isAsleep(1)]).toEqual([true, true]), 40_000);
    const left = () =>
      runs.map(({ folder }, n) => [processRef(pids[n]!) !== null, existsSync(folder), existsSync(groups[n]!)]);
    expect(left()).toEqual([
      [true, true, true],
      [true, true, true],
    ]);
    await reap(runs[0]!, process.pid);
    expect(left()).toEqual([
      [false, false, false],
      [true, true, true],
    ]);
    await reap(runs[1]!, process.pid);
    expect(left()[1]).toEqual([false, false, false]);
  },
);
