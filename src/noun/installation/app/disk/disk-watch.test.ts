import { expect, it } from 'vitest';
import type { Fault } from '../../../../model/fault.ts';
import { DiskWatch } from './disk-watch.ts';

const MiB = 1024 ** 2;

/** The watch over a disk of 1 GiB, of which 64 MiB are kept free. */
function watched(keepFreeBytes: number | null = null) {
  const disk = { bytes: 1000 * MiB, inodes: 60_000, totalBytes: 1024 * MiB, totalInodes: 64_000 };
  const sizes: Record<string, number> = {};
  const stopped: string[] = [];
  const measures: string[] = [];
  const watch = new DiskWatch({
    reserve: { fill: async () => {} },
    free: async () => ({ ...disk }),
    keepFreeBytes: () => keepFreeBytes,
    measure: async (what) => {
      measures.push(what);
      return new Map(Object.entries(sizes));
    },
    stop: async (id, reason) => void stopped.push(`${id}: ${reason}`),
    report: (_: string, fault: Fault) => {
      throw fault;
    },
  });
  const check = async (freeMiB: number, now: Record<string, number>) => {
    disk.bytes = freeMiB * MiB;
    for (const [id, size] of Object.entries(now)) sizes[id] = size * MiB;
    return watch.check();
  };
  return { disk, sizes, stopped, measures, watch, check };
}

it('sandboxes are not measured while enough space is free', async () => {
  const { check, measures } = watched();
  expect(await check(1000, { a: 10 })).toBe(false);
  expect(await check(300, { a: 700 })).toBe(true);
  expect(measures).toEqual([]);
});

it('the sandbox that grew most since twice as much was free is stopped', async () => {
  const { check, stopped } = watched();
  await check(1000, { old: 800, eater: 0 });
  await check(120, { old: 800, eater: 50 });
  await check(60, { old: 801, eater: 110 });
  expect(stopped).toEqual(['eater: disk almost full: it took 60M']);
  await check(60, { old: 801 });
  expect(stopped).toHaveLength(1);
});

it('a sandbox that fills the disk between two checks is stopped', async () => {
  const { check, stopped } = watched();
  await check(900, { old: 10, eater: 0 });
  await check(20, { old: 10, eater: 880 });
  expect(stopped).toEqual(['eater: disk almost full: it took 880M']);
});

it('a second sandbox is stopped if the disk fills further', async () => {
  const { check, stopped } = watched();
  await check(900, {});
  await check(60, { a: 500, b: 340 });
  await check(40, { a: 500, b: 360 });
  expect(stopped.map((line) => line[0])).toEqual(['a', 'b']);
});

it('no sandbox is stopped if something else fills the disk', async () => {
  const { check, stopped } = watched();
  await check(900, { a: 10 });
  await check(20, { a: 60 });
  expect(stopped).toEqual([]);
});

it('a daemon that finds the disk full stops a sandbox only if it takes half of the used space', async () => {
  const one = watched();
  await one.check(0, { a: 600, b: 100 });
  await one.check(0, { a: 600, b: 100 });
  expect(one.stopped).toEqual(['a: disk almost full: it took 600M']);
  const several = watched();
  await several.check(0, { a: 450, b: 450 });
  expect(several.stopped).toEqual([]);
});

it('a sandbox that takes space which was freed on a full disk is stopped', async () => {
  const { check, stopped } = watched();
  await check(0, { a: 300, b: 300 });
  await check(30, { a: 300, b: 270 });
  await check(0, { a: 330, b: 270 });
  expect(stopped).toEqual(['a: disk almost full: it took 30M']);
});

it('inodes are watched like bytes', async () => {
  const { disk, sizes, stopped, watch } = watched();
  await watch.check();
  disk.inodes = 1000;
  sizes.eater = 59_000;
  await watch.check();
  expect(stopped).toEqual(['eater: disk almost full: it took 59000 files']);
});

it('the owner sets how much space is kept free, and 0 turns the watch off', async () => {
  const much = watched(500 * MiB);
  await much.check(1000, {});
  await much.check(400, { a: 600 });
  const none = watched(0);
  await none.check(1000, {});
  await none.check(0, { a: 1000 });
  expect([much.stopped.length, none.stopped.length]).toEqual([1, 0]);
});
