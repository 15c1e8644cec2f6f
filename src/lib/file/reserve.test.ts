import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { freeAt, Reserve } from './reserve.ts';

let parent: string;
let folder: string;
let reserve: Reserve;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'carrel-reserve-'));
  folder = join(parent, 'reserve');
  reserve = new Reserve(folder);
});
afterEach(() => rmSync(parent, { recursive: true }));

const allocated = () =>
  readdirSync(folder).reduce((bytes, name) => bytes + statSync(join(folder, name)).blocks * 512, 0);

it('the reserve holds allocated files, not holes', async () => {
  await reserve.fill();
  expect(readdirSync(folder)).toHaveLength(64);
  expect(allocated()).toBeGreaterThanOrEqual(64 * statSync(join(folder, '0')).size);
  expect(statSync(join(folder, '63')).size).toBeGreaterThan(0);
});

it('the reserve is released a few files at a time until none is left', async () => {
  expect(reserve.giveUp()).toBe(false);
  await reserve.fill();
  const left = () => readdirSync(folder).length;
  expect([reserve.giveUp(), left()]).toEqual([true, 60]);
  for (let times = 15; times > 0; times -= 1) expect(reserve.giveUp()).toBe(true);
  expect([reserve.giveUp(), left()]).toEqual([false, 0]);
});

it('the reserve is filled again after a release, and after a crash that left a part of a file', async () => {
  await reserve.fill();
  const { size } = statSync(join(folder, '5'));
  reserve.giveUp();
  writeFileSync(join(folder, '5'), 'part');
  await new Reserve(folder).fill();
  expect(readdirSync(folder)).toHaveLength(64);
  expect(statSync(join(folder, '5')).size).toBe(size);
});

it('the reserve keeps all files while enough space is free, and releases all if that is not enough', async () => {
  await reserve.fill();
  reserve.provide(1);
  expect(readdirSync(folder)).toHaveLength(64);
  reserve.provide((await freeAt(parent)).bytes * 2);
  expect(readdirSync(folder)).toHaveLength(0);
});

it('the reserve retries work that failed for lack of space, and no other failure', async () => {
  await reserve.fill();
  const full = Object.assign(new Error('full'), { code: 'ENOSPC' });
  const failing = (times: number, error: Error) => () => {
    times -= 1;
    if (times >= 0) throw error;
    return 'done';
  };
  expect(reserve.with(failing(3, full))).toBe('done');
  expect(readdirSync(folder)).toHaveLength(52);
  expect(() => reserve.with(failing(1, new Error('other')))).toThrow('other');
  expect(() => reserve.with(failing(100, full))).toThrow('full');
});
