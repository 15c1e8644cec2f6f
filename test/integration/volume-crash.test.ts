/** Processes that are killed while they change volumes, and the recovery by the next process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { userHash } from '../../src/noun/volume/model.ts';
import { findOldVolumes } from '../../src/noun/volume/old-volume.ts';
import { ada, at, VolumeBench } from '../fixtures/volume-bench.ts';

let bench: VolumeBench;
beforeEach(() => {
  bench = new VolumeBench();
});
afterEach(() => bench.dispose());

const homeA = `carrel-home-${userHash('ada')}`;

/** The files in the volume; null: it does not exist. */
function content(): string[] | null {
  return existsSync(bench.home()) ? readdirSync(bench.home()).sort() : null;
}

async function recovered(): Promise<void> {
  await bench.volumes.recover(at);
  expect(bench.litter()).toEqual([]);
  await bench.volumes.recover(at);
}

it('an init that is killed is completed by the next one', () => {
  expect(bench.crashes('init', 'volume:made')).toBe(true);
  expect(bench.records.list()).toEqual([]);
  expect(bench.volumes.init('ada', at).length).toBe(7);
});

describe('with content', () => {
  beforeEach(async () => {
    bench.volumes.init('ada', at);
    bench.write('new', 'new');
    await bench.volumes.backup(ada, 'home', bench.file, at);
    rmSync(join(bench.home(), 'new'));
    bench.write('old', 'old');
  });

  it.each([
    ['replace:staged', ['old']],
    ['replace:swapped', ['new']],
  ])('a restore killed at %s is done as a whole or not at all', async (point, after) => {
    expect(bench.crashes('restore', point)).toBe(true);
    await recovered();
    expect(content()).toEqual(after);
    await bench.volumes.restore(ada, bench.file, at);
    expect(content()).toEqual(['new']);
  });

  it.each([
    ['backup:packed', false],
    ['backup:written', false],
    ['backup:published', true],
  ])('a backup killed at %s is complete or does not exist', async (point, there) => {
    rmSync(bench.file);
    expect(bench.crashes('backup', point)).toBe(true);
    expect(existsSync(bench.file)).toBe(there);
    expect(content()).toEqual(['old']);
    if (there) await bench.volumes.restore(ada, bench.file, at);
    expect(content()).toEqual(['old']);
  });

  it.each([
    ['backup:packed', ['old'], 0],
    ['backup:written', ['old'], 0],
    ['clean:backed-up', ['old'], 1],
    ['clean:set-aside', null, 1],
    ['clean:forgotten', null, 1],
  ])('a clean killed at %s is finished or rolled back, never without a backup', async (point, after, backups) => {
    expect(bench.crashes('clean', point)).toBe(true);
    await recovered();
    expect([content(), bench.records.get(homeA) === null]).toEqual([after, after === null]);
    const kept = readdirSync(bench.backups);
    expect(kept.length).toBe(backups);
    bench.volumes.init('ada', at);
    for (const file of kept) await bench.volumes.restore(ada, join(bench.backups, file), at);
    expect(content()).toEqual(['old']);
  });

  it('a clean whose recovery is killed, too, is finished by the next', async () => {
    expect(bench.crashes('clean', 'clean:set-aside')).toBe(true);
    expect(bench.crashes('recover', 'clean:forgotten')).toBe(true);
    await recovered();
    expect([content(), bench.records.get(homeA)]).toEqual([null, null]);
  });

  it('an unfinished removal removes nothing of a newer volume of the same name', async () => {
    mkdirSync(join(bench.folder, `.gone-${homeA}`));
    await recovered();
    expect([content(), bench.records.get(homeA)?.user]).toEqual([['old'], 'ada']);
  });

  it('a swap by two renames is rolled back or kept', async () => {
    const old = join(bench.folder, `.old-${homeA}`);
    renameSync(bench.home(), old);
    await recovered();
    expect(content()).toEqual(['old']);
    renameSync(bench.home(), old);
    bench.write('new', 'new');
    await recovered();
    expect(content()).toEqual(['new']);
  });
});

describe('migrate', () => {
  beforeEach(() => {
    bench.volumes.init('ada', at);
    bench.write('a', 'a', join(bench.old, 'carrel-home'));
  });

  it.each(['migrate:copied', 'migrate:noted', 'migrate:swapped', 'migrate:recorded'])(
    'killed at %s loses nothing, and the next one continues from there',
    async (point) => {
      expect(bench.crashes('migrate', point)).toBe(true);
      await recovered();
      const done = point === 'migrate:swapped' || point === 'migrate:recorded';
      expect(content()).toEqual(done ? ['a'] : []);
      expect(bench.records.get(homeA)?.migratedFrom?.name).toBe(done ? 'carrel-home' : undefined);
      const [again] = await bench.volumes.migrate(ada, findOldVolumes(bench.old, 'carrel'), at);
      expect(again!.outcome).toBe(done ? 'already' : 'migrated');
      expect([content(), readdirSync(join(bench.old, 'carrel-home'))]).toEqual([['a'], ['a']]);
    },
  );
});

describe('killed at any time', () => {
  const many = 1500;
  const fill = (folder: string, word: string) => {
    mkdirSync(folder, { recursive: true });
    for (let n = 0; n < many; n += 1) writeFileSync(join(folder, `${word}-${n}`), `${word}-${n}`);
  };

  /** `whole`: the volume has all old files, or all new ones, or none. */
  function wholeness(): string {
    const words = new Set((content() ?? []).map((name) => name.split('-')[0]));
    const complete = [0, many].includes(content()?.length ?? 0);
    const right = (content() ?? []).every((name) => readFileSync(join(bench.home(), name), 'utf8') === name);
    return complete && right && words.size <= 1 ? 'whole' : `${[...words]} ${content()?.length}`;
  }

  async function killedAfter(action: string, delayMs: number): Promise<void> {
    const [program, ...args] = bench.command(action);
    const child = spawn(program, args, { stdio: 'ignore' });
    const ended = once(child, 'exit');
    await Promise.race([sleep(delayMs), ended]);
    child.kill('SIGKILL');
    await ended;
  }

  it.each(['restore', 'migrate', 'clean'])('%s leaves a complete volume', async (action) => {
    bench.volumes.init('ada', at);
    fill(bench.home(), 'new');
    await bench.volumes.backup(ada, 'home', bench.file, at);
    fill(join(bench.old, 'carrel-home'), 'old');
    for (let delayMs = 60; delayMs < 360; delayMs += 25) {
      if (action === 'migrate') await bench.volumes.clean(ada, ['home'], false, at);
      bench.volumes.init('ada', at);
      rmSync(bench.backups, { recursive: true });
      mkdirSync(bench.backups);
      await killedAfter(action, delayMs);
      await bench.volumes.recover(at);
      expect(wholeness()).toBe('whole');
    }
  });
});
