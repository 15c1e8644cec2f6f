import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bankConformance, box, person, unknown } from '../../../../test/conformance/bank.ts';
import { withoutThread } from '../../../lib/wire/thread-objects.ts';
import { type BankLimits, defaultBankLimits } from '../model/bank.ts';
import type { Bank, Banks } from './bank.ts';
import { openBanks } from './banks.ts';
import { bankObjects } from './opened-bank.ts';

let folder: string;
let banks: Banks;
let opened = 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-bank-'));
  banks = openBanks(withoutThread(bankObjects));
});
afterEach(async () => {
  await banks.close();
  rmSync(folder, { recursive: true, force: true });
});

const placeOf = (name: string) => {
  const files = join(folder, name, 'files');
  mkdirSync(files, { recursive: true });
  return { files, folder: join(folder, name, 'history'), ownerId: null };
};
const open = (limits: Partial<BankLimits> = {}) => banks.open(placeOf('bank'), { ...defaultBankLimits, ...limits });
const at = (...names: string[]) => join(folder, 'bank/files', ...names);
const write = (bank: Bank, path: string, content: string, by = box('1')) =>
  bank.write({ path, content, expected: 'any', by }, unknown);
const plain = (path: string, content: string | Buffer) => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), content);
};

bankConformance('the bank in a folder', async (limits, clock) => {
  banks = openBanks(withoutThread(() => bankObjects(() => clock.now)));
  const place = placeOf(String(opened++));
  const path = (name: string) => join(place.files, name);
  return {
    bank: await banks.open(place, limits),
    plainWrite: (name, content) => {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), content);
    },
    plainRemove: (name) => rmSync(path(name)),
    plainRead: (name) => (existsSync(path(name)) ? readFileSync(path(name), 'utf8') : null),
  };
});

test('B1 history and files are kept when the bank is closed and opened again', async () => {
  await write(await open(), 'shop/a.md', 'one');
  await banks.close();
  const bank = await open();
  expect((await bank.read('shop/a.md', unknown)).version).toMatchObject({ version: 1, by: box('1') });
  expect((await bank.scan(unknown)).changes).toBe(0);
});

test('B2 no link is followed, by a tool or by a scan', async () => {
  const bank = await open();
  const outside = join(folder, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret.md'), 'secret');
  plain('shop/real.md', 'real');
  symlinkSync(join(outside, 'secret.md'), at('shop/link.md'));
  symlinkSync(outside, at('shop/folder'));
  symlinkSync(outside, at('linked'));
  symlinkSync(join(outside, 'new.md'), at('shop/dangling.md'));
  for (const path of ['shop/link.md', 'shop/folder/secret.md', 'linked/secret.md', 'shop/dangling.md']) {
    await expect(bank.read(path, unknown)).rejects.toMatchObject({ code: 'denied' });
    await expect(write(bank, path, 'x')).rejects.toMatchObject({ code: 'denied' });
  }
  await expect(write(bank, 'linked/other/new.md', 'x')).rejects.toMatchObject({ code: 'denied' });
  expect(readFileSync(join(outside, 'secret.md'), 'utf8')).toBe('secret');
  expect(existsSync(join(outside, 'new.md'))).toBe(false);
  expect(await bank.files('linked')).toEqual([]);
  expect(await bank.projects()).toEqual(['shared', 'shop']);
  await bank.scan(unknown);
  expect((await bank.log({ path: null, limit: 10, diffs: false })).map(({ path }) => path)).toEqual(['shop/real.md']);
});

test('B2 sockets, folders and files whose names are not UTF-8 are not read, written or recorded', async () => {
  const bank = await open();
  mkdirSync(at('shop/folder.md'), { recursive: true });
  writeFileSync(Buffer.concat([Buffer.from(at('shop/')), Buffer.from([0xff, 0xfe])]), 'x');
  const server = createServer().listen(at('shop/socket.md'));
  await new Promise((resolve) => server.once('listening', resolve));
  for (const path of ['shop/folder.md', 'shop/socket.md']) {
    await expect(bank.read(path, unknown)).rejects.toMatchObject({ code: 'denied' });
    await expect(write(bank, path, 'x')).rejects.toMatchObject({ code: 'denied' });
  }
  server.close();
  expect((await bank.scan(unknown)).changes).toBe(0);
});

test('B2 a write to one of two names of a file leaves the other as it was', async () => {
  const bank = await open();
  plain('shop/a.md', 'one');
  linkSync(at('shop/a.md'), at('shop/b.md'));
  await write(bank, 'shop/a.md', 'two');
  expect(readFileSync(at('shop/b.md'), 'utf8')).toBe('one');
});

test('B2 a new file is for its owner alone, whatever mode it had', async () => {
  const bank = await open();
  plain('shop/a.md', 'one');
  chmodSync(at('shop/a.md'), 0o4777);
  await write(bank, 'shop/a.md', 'two');
  expect(statSync(at('shop/a.md')).mode & 0o7777).toBe(0o600);
});

test('B5 a change that keeps size and time of the file is noticed', async () => {
  const bank = await open();
  await write(bank, 'shop/a.md', 'one');
  utimesSync(at('shop/a.md'), 1, 1);
  await bank.scan(unknown);
  plain('shop/a.md', 'two');
  utimesSync(at('shop/a.md'), 1, 1);
  expect((await bank.scan(box('2'))).changes).toBe(1);
});

test('B5 a large plain file is recorded without its content, and can be replaced', async () => {
  const bank = await open({ fileBytes: 100 });
  plain('shop/a.md', 'x'.repeat(1000));
  await bank.scan(unknown);
  expect(await bank.log({ path: null, limit: 1, diffs: false })).toMatchObject([{ bytes: 1000, isKept: false }]);
  await expect(bank.read('shop/a.md', unknown)).rejects.toMatchObject({ code: 'exhausted' });
  expect((await write(bank, 'shop/a.md', 'small')).version).toBe(2);
  await expect(bank.restore('shop/a.md', 1, person, unknown)).rejects.toMatchObject({ code: 'not_found' });
});

test('B5 a flood of plain files is recorded up to the limit, and a scan goes on where the last one stopped', async () => {
  const bank = await open({ files: 700 });
  for (let n = 0; n < 800; n += 1) plain(`shop/${n}.md`, String(n));
  expect(await bank.scan(unknown)).toMatchObject({ changes: 500, isCut: true });
  const filesAfterScan = () => bank.scan(unknown).then(async () => (await bank.status()).files);
  // A scan looks again at files that were just made, before it goes on.
  await expect.poll(filesAfterScan).toBe(700);
  expect(await filesAfterScan()).toBe(700);
});

test('B7 files that an agent created and removed make room for new ones, and the history of other writers stays', async () => {
  const bank = await open({ files: 10 });
  await write(bank, 'shop/plan.md', 'of ada', person);
  rmSync(at('shop/plan.md'));
  for (let n = 0; n < 30; n += 1) plain(`shop/${n}.md`, String(n));
  await bank.scan(box('1'));
  expect((await bank.status()).files).toBe(10);
  await expect(write(bank, 'shop/new.md', 'x', person)).rejects.toMatchObject({ code: 'exhausted' });
  for (let n = 0; n < 30; n += 1) rmSync(at(`shop/${n}.md`));
  await bank.scan(box('1'));
  // The forgotten files had 2 versions, so a new file begins with version 3.
  expect((await write(bank, 'shop/new.md', 'x', person)).version).toBe(3);
  expect((await bank.restore('shop/plan.md', 1, person, unknown)).act).toBe('restore');
  expect(readFileSync(at('shop/plan.md'), 'utf8')).toBe('of ada');
});

test('B5 a change or removal of a known file is recorded although a flood of other files comes before it in the listing', async () => {
  const bank = await open({ files: 10 });
  for (const name of ['a', 'b']) await write(bank, `shop/${name}.md`, 'one', person);
  for (let n = 0; n <= 20; n += 1) plain(`!/${n}`, '');
  plain('shop/a.md', 'two');
  rmSync(at('shop/b.md'));
  expect((await bank.scan(box('1'))).isCut).toBe(true);
  const newest = async (path: string) => (await bank.log({ path, limit: 1, diffs: false }))[0];
  expect(await newest('shop/a.md')).toMatchObject({ version: 2, act: 'plain', by: box('1') });
  expect(await newest('shop/b.md')).toMatchObject({ version: 2, act: 'plain', bytes: null });
});

test('B6 the log shows what each version changed', async () => {
  const bank = await open();
  await write(bank, 'shop/a.md', 'one\ntwo\n');
  await write(bank, 'shop/a.md', 'one\n2\n', box('2'));
  const [second, first] = await bank.log({ path: 'shop/a.md', limit: 10, diffs: true });
  expect(second?.diff).toContain('-two\n+2\n');
  expect(first?.diff).toContain('+++ b/shop/a.md');
});

test('B8 a writer who writes a lot drops only its own versions from a full history', async () => {
  const bank = await open({ historyBytes: 5000 });
  await write(bank, 'shop/a.md', 'of ada', person);
  await write(bank, 'shop/b.md', 'of box 2', box('2'));
  for (let n = 0; n < 50; n += 1) await write(bank, 'shop/a.md', `${n}`.padEnd(500, 'x'));
  expect((await bank.status()).historyBytes).toBeLessThanOrEqual(5000);
  await bank.restore('shop/a.md', 1, person, unknown);
  expect(readFileSync(at('shop/a.md'), 'utf8')).toBe('of ada');
  expect((await bank.log({ path: 'shop/b.md', limit: 9, diffs: false })).length).toBe(1);
});

test('B8 when only versions of different writers are left, writes are refused, and plain changes are recorded without content', async () => {
  const bank = await open({ historyBytes: 3000 });
  const turn = (n: number) => write(bank, 'shop/a.md', `${n}`.padEnd(500, 'x'), box(String(n % 2)));
  for (let n = 0; n < 6; n += 1) await turn(n);
  await expect(turn(6)).rejects.toMatchObject({ code: 'exhausted' });
  expect(readFileSync(at('shop/a.md'), 'utf8')).toMatch(/^5/);
  plain('shop/a.md', 'y'.repeat(500));
  await bank.scan(unknown);
  expect(await bank.log({ path: null, limit: 1, diffs: false })).toMatchObject([{ version: 7, isKept: false }]);
});

test('B8 a flood of plain changes without content does not grow beyond the limit', async () => {
  const bank = await open({ versions: 20, fileBytes: 10 });
  await write(bank, 'shop/a.md', 'of ada', person);
  for (let n = 0; n < 60; n += 1) {
    plain('shop/a.md', 'x'.repeat(20 + n));
    await bank.scan(box('1'));
  }
  expect((await bank.status()).versions).toBeLessThanOrEqual(21);
  expect((await bank.restore('shop/a.md', 1, person, unknown)).act).toBe('restore');
});

test('B9 a damaged history is set aside, and a new one begins with the files as they are', async () => {
  await write(await open(), 'shop/a.md', 'one');
  await banks.close();
  writeFileSync(join(folder, 'bank/history/history.db'), 'x'.repeat(10_000));
  const bank = await open();
  expect((await bank.read('shop/a.md', unknown)).version).toMatchObject({ version: 1, act: 'plain' });
  expect((await bank.status()).setAside).toHaveLength(1);
});

test('B11 an erased history is gone for good, and the files stay', async () => {
  const bank = await open();
  await write(bank, 'shop/a.md', 'private');
  await banks.erase(placeOf('bank'));
  expect(existsSync(join(folder, 'bank/history'))).toBe(false);
  await expect(bank.read('shop/a.md', unknown)).rejects.toMatchObject({ code: 'unavailable' });
  const again = await open();
  expect(await again.log({ path: null, limit: 10, diffs: false })).toEqual([]);
  expect(await again.read('shop/a.md', unknown)).toMatchObject({ content: 'private', version: { act: 'plain' } });
});

test('B11 a bank that was released is opened again with its history, and one that is not open can be released', async () => {
  await banks.release(placeOf('bank'));
  const bank = await open();
  await write(bank, 'shop/a.md', 'one');
  await banks.release(placeOf('bank'));
  await expect(bank.status()).rejects.toMatchObject({ code: 'unavailable' });
  expect(await (await open()).log({ path: null, limit: 10, diffs: false })).toHaveLength(1);
});
