/** What every memory bank promises, rule by rule of docs/formats/memory-bank.md. Each test gets an empty bank of its own. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Bank, Expected } from '../../src/noun/memory/bank/bank.ts';
import { type BankLimits, type BankWriter, defaultBankLimits } from '../../src/noun/memory/model/bank.ts';

export const person: BankWriter = { kind: 'person', name: 'ada', id: null, agent: null, session: null };
export const box = (id: string): BankWriter => ({ kind: 'sandbox', name: `box-${id}`, id, agent: null, session: null });
export const unknown: BankWriter = { kind: 'unknown', name: '', id: null, agent: null, session: null };

export interface BankClock {
  now: Date;
}

export interface TestedBank {
  readonly bank: Bank;
  /** Plain access of an agent to the folder, without the bank. */
  plainWrite(path: string, content: string): void;
  plainRemove(path: string): void;
  plainRead(path: string): string | null;
}

export function bankConformance(
  name: string,
  open: (limits: BankLimits, clock: BankClock) => Promise<TestedBank> | TestedBank,
): void {
  const clock: BankClock = { now: new Date('2026-11-16T12:00:00.000Z') };
  let tested: TestedBank;
  let bank: Bank;
  const use = async (limits: Partial<BankLimits> = {}) => {
    tested = await open({ ...defaultBankLimits, ...limits }, clock);
    bank = tested.bank;
  };
  const write = (path: string, content: string, expected: Expected = 'any', by = box('1')) =>
    bank.write({ path, content, expected, by }, unknown);
  const log = async (path: string | null = null) =>
    (await bank.log({ path, limit: 100, diffs: false })).map(
      ({ path: file, version, act, by, bytes }) => `${file} ${version} ${act} ${by.name} ${bytes}`,
    );

  describe(name, () => {
    beforeEach(async () => {
      clock.now = new Date('2026-11-16T12:00:00.000Z');
      await use();
    });
    afterEach(() => bank.close());

    it('B1 writes a file that plain access reads, and reads it back with its writer', async () => {
      const version = await write('shop/notes.md', 'one\n');
      expect(version).toMatchObject({ version: 1, act: 'write', by: box('1'), bytes: 4, at: clock.now.toISOString() });
      expect(tested.plainRead('shop/notes.md')).toBe('one\n');
      expect(await bank.read('shop/notes.md', unknown)).toEqual({ content: 'one\n', version });
      expect(await bank.projects()).toEqual(['shared', 'shop']);
      expect(await bank.files('shop')).toEqual([{ path: 'shop/notes.md', bytes: 4, version: 1 }]);
      expect(await bank.files('shared')).toEqual([]);
    });

    it('B3 refuses a write that expects another version, and makes none', async () => {
      await write('shop/a.md', 'one', 'absent');
      await expect(write('shop/a.md', 'two', 'absent', box('2'))).rejects.toMatchObject({ code: 'conflict' });
      await expect(write('shop/a.md', 'two', 0, box('2'))).rejects.toMatchObject({ code: 'conflict' });
      await expect(write('shop/a.md', 'two', 2)).rejects.toMatchObject({ code: 'conflict', data: { version: 1 } });
      await expect(write('shop/b.md', 'two', 'present')).rejects.toMatchObject({ code: 'not_found' });
      expect((await write('shop/a.md', 'two', 1)).version).toBe(2);
      expect((await write('shop/a.md', 'three', 'present')).version).toBe(3);
      expect(await log()).toEqual([
        'shop/a.md 3 write box-1 5',
        'shop/a.md 2 write box-1 3',
        'shop/a.md 1 write box-1 3',
      ]);
    });

    it('B3 answers a repeated write of the same writer with the version that it made', async () => {
      const first = await write('shop/a.md', 'one', 'absent');
      expect(await write('shop/a.md', 'one', 'absent')).toEqual(first);
      const second = await write('shop/a.md', 'two', 1);
      expect(await write('shop/a.md', 'two', 1)).toEqual(second);
      expect(await log()).toHaveLength(2);
    });

    it('B4 lets one of two writers have a lock until it is given back or expires', async () => {
      const { until } = await bank.lock('shop/a.md', box('1'), 60);
      expect(until).toBe('2026-11-16T12:01:00.000Z');
      await expect(bank.lock('shop/a.md', box('2'), 60)).rejects.toMatchObject({ code: 'conflict', data: { until } });
      await expect(write('shop/a.md', 'x', 'any', box('2'))).rejects.toMatchObject({ code: 'conflict' });
      await write('shop/a.md', 'mine');
      expect(await bank.unlock('shop/a.md', box('2'))).toBe(false);
      expect(await bank.unlock('shop/a.md', box('1'))).toBe(true);
      await bank.lock('shop/a.md', box('2'), 10);
      clock.now = new Date('2026-11-16T12:00:10.000Z');
      expect((await bank.status()).locks).toEqual([]);
      await write('shop/a.md', 'mine again');
    });

    it('B4 renews a lock of its holder, and limits how long and how many', async () => {
      await bank.lock('shop/a.md', box('1'), 10);
      clock.now = new Date('2026-11-16T12:00:05.000Z');
      expect((await bank.lock('shop/a.md', box('1'), 10)).until).toBe('2026-11-16T12:00:15.000Z');
      for (const seconds of [0, -1, 601, Number.NaN])
        await expect(bank.lock('shop/a.md', box('1'), seconds)).rejects.toMatchObject({ code: 'invalid' });
      await use({ locks: 2 });
      await bank.lock('shop/a.md', box('1'), 10);
      await bank.lock('shop/b.md', box('1'), 10);
      await bank.lock('shop/b.md', box('1'), 10);
      await expect(bank.lock('shop/c.md', box('1'), 10)).rejects.toMatchObject({ code: 'exhausted' });
      await bank.lock('shop/c.md', box('2'), 10);
    });

    it('B5 notices plain writes and removals, by a scan or by the next call', async () => {
      await write('shop/a.md', 'one');
      tested.plainWrite('shop/a.md', 'plain');
      tested.plainWrite('shop/new.md', 'new');
      expect((await bank.scan(box('2'))).changes).toBe(2);
      expect((await bank.scan(box('2'))).changes).toBe(0);
      tested.plainRemove('shop/a.md');
      await bank.scan(unknown);
      expect(await log('shop/a.md')).toEqual([
        'shop/a.md 3 plain  null',
        'shop/a.md 2 plain box-2 5',
        'shop/a.md 1 write box-1 3',
      ]);
      tested.plainWrite('shop/new.md', 'newer');
      await expect(write('shop/new.md', 'mine', 1)).rejects.toMatchObject({ code: 'conflict', data: { version: 2 } });
      expect((await bank.read('shop/new.md', unknown)).version).toMatchObject({ version: 2, act: 'plain' });
      expect(await bank.scannedAt()).toBe(clock.now.toISOString());
    });

    it('B6 restores an earlier version, a removed file, and a removal', async () => {
      await write('shop/a.md', 'one');
      await write('shop/a.md', 'two');
      expect(await bank.restore('shop/a.md', 1, person, unknown)).toMatchObject({ version: 3, act: 'restore' });
      expect(tested.plainRead('shop/a.md')).toBe('one');
      tested.plainRemove('shop/a.md');
      await bank.scan(unknown);
      expect((await bank.restore('shop/a.md', 2, person, unknown)).version).toBe(5);
      expect(tested.plainRead('shop/a.md')).toBe('two');
      await bank.restore('shop/a.md', 4, person, unknown);
      expect(tested.plainRead('shop/a.md')).toBeNull();
      await expect(bank.restore('shop/a.md', 99, person, unknown)).rejects.toMatchObject({ code: 'not_found' });
      await expect(bank.restore('shop/b.md', 1, person, unknown)).rejects.toMatchObject({ code: 'not_found' });
    });

    it('B6 a restore ignores the lock of a sandbox', async () => {
      await write('shop/a.md', 'one');
      await write('shop/a.md', 'two');
      await bank.lock('shop/a.md', box('1'), 600);
      expect((await bank.restore('shop/a.md', 1, person, unknown)).version).toBe(3);
    });

    it.each([
      '',
      '/etc/passwd',
      '..',
      '../x',
      'shop/../../x',
      'shop//x',
      'shop/./x',
      'shop/a\0b',
      'shop/a\nb',
      `shop/${'x'.repeat(256)}`,
      'shop/\ud800',
      'a/b/c/d/e/f/g/h/i',
    ])('B2 refuses the path %j', async (path) => {
      await expect(write(path, 'x')).rejects.toMatchObject({ code: 'invalid' });
      await expect(bank.read(path, unknown)).rejects.toMatchObject({ code: 'invalid' });
      await expect(bank.lock(path, box('1'), 1)).rejects.toMatchObject({ code: 'invalid' });
      await expect(bank.files(path)).rejects.toMatchObject({ code: 'invalid' });
    });

    it('B2 takes a name of 255 bytes, and names with spaces and other letters', async () => {
      for (const path of [`shop/${'x'.repeat(255)}`, `shop/${'é'.repeat(127)}`, 'shop/a b.md', 'läden/d/ü.md'])
        expect((await write(path, path)).version).toBe(1);
    });

    it('B7 refuses files that are too large and too many', async () => {
      await use({ fileBytes: 10, files: 2 });
      await expect(write('shop/a.md', 'x'.repeat(11))).rejects.toMatchObject({ code: 'exhausted' });
      await write('shop/a.md', 'x'.repeat(10));
      await write('shop/b.md', 'x');
      await expect(write('shop/c.md', 'x')).rejects.toMatchObject({ code: 'exhausted' });
      await write('shop/b.md', 'y');
    });
  });
}
