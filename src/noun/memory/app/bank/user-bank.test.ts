import { afterEach, beforeEach, expect, test } from 'vitest';
import { box, unknown } from '../../../../../test/conformance/bank.ts';
import { openTestBank, type TestBank } from '../../../../../test/fixtures/memory.ts';
import { Fault } from '../../../../model/fault.ts';
import { UserBank } from './user-bank.ts';

let opened: TestBank;
beforeEach(() => {
  opened = openTestBank('2026-11-16T12:00:00.000Z');
});
afterEach(() => opened.remove());

async function userBank(scan: () => Promise<void>): Promise<UserBank> {
  const { bank } = opened;
  await bank.write({ path: 'shop/a.md', content: 'one', expected: 'any', by: box('1') }, unknown);
  const banks = { scan, open: async () => bank, plainWriter: async () => unknown };
  return new UserBank('ada', { banks, prepare: () => {}, damaged: () => [] });
}

test('B9 the log can be read on a full disk, although a scan cannot record what it finds', async () => {
  const bank = await userBank(() => Promise.reject(new Fault('exhausted', 'the disk has no space')));
  expect(await bank.log({})).toMatchObject([{ path: 'shop/a.md', version: 1 }]);
});

test('the log is refused if a scan fails for another reason', async () => {
  const bank = await userBank(() => Promise.reject(new Fault('corrupt', 'the history is damaged')));
  await expect(bank.log({})).rejects.toMatchObject({ code: 'corrupt' });
});
