/** The memory bank with its real thread: its process dies, many writers write at once, and the disk is full. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { detachMount, mount } from '../../src/lib/sys/sys-mount.ts';
import { withoutThread } from '../../src/lib/wire/thread-objects.ts';
import { isFault } from '../../src/model/fault.ts';
import type { Bank, BankPlace, Banks } from '../../src/noun/memory/bank/bank.ts';
import { openBanks } from '../../src/noun/memory/bank/banks.ts';
import { bankObjects } from '../../src/noun/memory/bank/opened-bank.ts';
import { defaultBankLimits } from '../../src/noun/memory/model/bank.ts';
import { box, unknown } from '../conformance/bank.ts';

let folder: string;
let place: BankPlace;
let banks: Banks;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-bank-'));
  mount('carrel-test', folder, 'tmpfs', 0, 'size=8m,mode=755');
  place = { files: join(folder, 'files'), folder: join(folder, 'history'), ownerId: null };
  mkdirSync(place.files);
  banks = openBanks();
});
afterEach(async () => {
  await banks.close();
  detachMount(folder);
  rmSync(folder, { recursive: true });
});

const open = () => banks.open(place, defaultBankLimits);
const write = (bank: Bank, path: string, content: string, by = '1') =>
  bank.write({ path, content, expected: 'any', by: box(by) }, unknown);
const at = (path: string) => join(place.files, path);
const versions = async (bank: Bank) =>
  (await bank.log({ path: null, limit: 100, diffs: false })).map(
    ({ version, act, by }) => `${version} ${act} ${by.name}`,
  );

function writeAndDie(content: string, crashAt: string): Promise<string> {
  const change = { path: 'shop/a.md', content, expected: 'any', by: box('dying') };
  const args = [place, defaultBankLimits, change, unknown].map((one) => JSON.stringify(one));
  return new Promise((done) => {
    const env = { ...process.env, CARREL_CRASH_AT: crashAt };
    execFile(process.execPath, [resolve('test/fixtures/bank-once.mjs'), ...args], { env }, (_, stdout) => done(stdout));
  });
}

it.each([
  ['bank:recorded', 'old', ['1 write box-1']],
  ['bank:placed', 'new', ['2 write box-dying', '1 write box-1']],
  ['bank:settled', 'new', ['2 write box-dying', '1 write box-1']],
])(
  'B10: a write that dies at %s leaves the file %s, with its writer in the history',
  async (point, content, history) => {
    await write(await open(), 'shop/a.md', 'old');
    await banks.close();
    expect(await writeAndDie('new', point)).toBe('');
    expect(readFileSync(at('shop/a.md'), 'utf8')).toBe(content);
    const bank = await open();
    expect((await bank.scan(unknown)).changes).toBe(0);
    expect(await versions(bank)).toEqual(history);
    expect((await write(bank, 'shop/a.md', 'next')).version).toBe(history.length + 1);
  },
);

it.each([
  ['bank:recorded', false],
  ['bank:placed', true],
])('B10: after a write of a new file that dies at %s, the file exists: %s', async (point, isThere) => {
  expect(await writeAndDie('new', point)).toBe('');
  expect(existsSync(at('shop/a.md'))).toBe(isThere);
  const bank = await open();
  await bank.scan(unknown);
  expect(await versions(bank)).toEqual(isThere ? ['1 write box-dying'] : []);
});

it('B3: of 50 writers at once that expect the same version one wins, and no increment is lost', async () => {
  const bank = await open();
  await write(bank, 'shop/count', '0');
  const step = async (writer: number): Promise<void> => {
    for (;;) {
      const { content, version } = await bank.read('shop/count', unknown);
      const next = { path: 'shop/count', content: String(Number(content) + 1), expected: version.version };
      try {
        await bank.write({ ...next, by: box(String(writer)) }, unknown);
        return;
      } catch (error) {
        if (!isFault(error, 'conflict')) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: 50 }, (_, writer) => step(writer)));
  expect(readFileSync(at('shop/count'), 'utf8')).toBe('50');
  expect((await bank.status()).versions).toBe(51);
});

it('B4: of 50 writers at once that lock the same file one gets it, and the next one when it is unlocked', async () => {
  const bank = await open();
  const all = Array.from({ length: 50 }, (_, n) => box(`${n}`));
  const holders = async () => {
    const tried = await Promise.allSettled(all.map((by) => bank.lock('shop/a.md', by, 600)));
    return all.filter((_, n) => tried[n]!.status === 'fulfilled');
  };
  const [first, ...more] = await holders();
  expect(more).toEqual([]);
  // Its holder renews the lock, and no other writer gets it.
  expect(await holders()).toEqual([first]);
  expect(await bank.unlock('shop/a.md', all.find((by) => by !== first)!)).toBe(false);
  expect(await bank.unlock('shop/a.md', first!)).toBe(true);
  expect(await holders()).toHaveLength(1);
});

it('B5: plain writes between the writes of tools are all in the history', async () => {
  const bank = await open();
  await write(bank, 'shop/a.md', 'tool 0');
  for (let n = 1; n <= 20; n += 1) {
    writeFileSync(at('shop/a.md'), `plain ${n}`);
    await write(bank, 'shop/a.md', `tool ${n}`);
  }
  const acts = (await bank.log({ path: null, limit: 100, diffs: false })).map(({ act }) => act);
  expect(acts.filter((act) => act === 'plain')).toHaveLength(20);
});

it('B9: a full disk refuses writes, keeps files and history, and takes writes again', async () => {
  const bank = await open();
  await write(bank, 'shop/a.md', 'before');
  writeFileSync(join(folder, 'ballast'), Buffer.alloc(5 * 1024 ** 2));
  let refusal: unknown = null;
  let written = 0;
  for (; refusal === null && written < 100; written += 1)
    await write(bank, `shop/${written}.md`, `${written}`.padEnd(200_000, 'x')).catch((error: unknown) => {
      refusal = error;
    });
  expect(isFault(refusal, 'exhausted')).toBe(true);
  expect(existsSync(at(`shop/${written - 1}.md`))).toBe(false);
  expect((await bank.read('shop/a.md', unknown)).content).toBe('before');
  rmSync(join(folder, 'ballast'));
  expect((await write(bank, 'shop/a.md', 'after')).version).toBe(2);
  expect((await bank.scan(unknown)).changes).toBe(0);
});

const ballast = () => join(folder, 'ballast');
function leaveFree(bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(ballast(), Buffer.alloc(bavail * bsize - bytes));
}

it('B9: files, plain changes, versions and locks can be read on a full disk', async () => {
  let now = new Date();
  banks = openBanks(withoutThread(() => bankObjects(() => now)));
  const bank = await open();
  await write(bank, 'shop/a.md', 'before');
  await write(bank, 'shop/b.md', 'before');
  await bank.lock('shop/a.md', box('1'), 1);
  now = new Date(now.getTime() + 2000);
  // For an older file the bank notes how to recognize it, which needs space.
  await expect.poll(() => Date.now() - statSync(at('shop/a.md')).ctimeMs).toBeGreaterThan(200);
  leaveFree(0);
  writeFileSync(at('shop/b.md'), 'plain');
  expect(await bank.read('shop/a.md', unknown)).toMatchObject({ content: 'before', version: { version: 1 } });
  expect(await bank.read('shop/b.md', unknown)).toMatchObject({ content: 'plain', version: { version: 0 } });
  expect(await versions(bank)).toEqual(['1 write box-1', '1 write box-1']);
  expect((await bank.status()).locks).toEqual([]);
  await expect(write(bank, 'shop/b.md', 'refused')).rejects.toMatchObject({ code: 'exhausted' });
  rmSync(ballast());
  expect((await bank.read('shop/b.md', unknown)).version).toMatchObject({ version: 2, act: 'plain' });
});

it('B9: a write that runs out of space at any step is done and recorded, or refused without an effect', async () => {
  banks = openBanks(withoutThread(bankObjects));
  for (let pages = 0; pages < 25; pages += 1) {
    const path = `shop/${pages}.md`;
    let bank = await open();
    const history = () => bank.log({ path, limit: 9, diffs: false });
    leaveFree(pages * 4096);
    const isDone = await write(bank, path, 'x'.repeat(20_000)).then(
      () => true,
      (error: unknown) => !isFault(error, 'exhausted'),
    );
    const atFree = `with ${pages} pages free`;
    expect(existsSync(at(path)), atFree).toBe(isDone);
    if (isDone) writeFileSync(at(path), 'plain');
    rmSync(ballast());
    const before = isDone ? 2 : 0;
    expect((await write(bank, path, 'next', '2')).version, atFree).toBe(before + 1);
    expect(
      (await history()).map(({ act, by }) => `${act} ${by.name}`),
      atFree,
    ).toEqual(isDone ? ['write box-2', 'plain ', 'write box-1'] : ['write box-2']);
    await banks.close();
    bank = await open();
    expect((await bank.read(path, unknown)).version.version, atFree).toBe(before + 1);
    await banks.close();
  }
});
