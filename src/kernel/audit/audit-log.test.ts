import { linkSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fault } from '../../model/fault.ts';
import type { Act, Audit, AuditEntry } from './audit.ts';
import { openAudit } from './audit-log.ts';
import { limitPerUser } from './user-limit.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-audit-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const faults: Fault[] = [];
const opened = (maxBytes = 1e6, files = 3): Audit =>
  openAudit({ folder, maxBytes, files, now: () => '2026-01-01T00:00:00.000Z', report: (fault) => faults.push(fault) });
const act = (name = 'box', user: string | null = 'ann'): Act => ({
  user,
  as: null,
  verb: 'sandbox.stop',
  targets: [{ name, id: '1' }],
  peer: { uid: 0, pid: 7 },
});
const text = (name = 'audit.log') => readFileSync(join(folder, name), 'utf8');
const lines = () => text().trimEnd().split('\n');

async function entries(audit: Audit, after = 0): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  for await (const entry of audit.read({ after, follow: false })) found.push(entry);
  return found;
}

describe('an act', () => {
  it('has one line, with user, verb, targets, outcome and peer', async () => {
    const audit = opened();
    const openAct = audit.begin(act());
    openAct.end('ok', { detail: { grace: 5 } });
    openAct.end('internal');
    expect(lines()).toHaveLength(1);
    const entry = JSON.parse(lines()[0]!);
    expect(entry).toEqual({ ...act(), seq: 1, id: entry.id, at: entry.at, outcome: 'ok', detail: { grace: 5 } });
    expect(await entries(audit)).toEqual([entry]);
  });

  it('is in a file that is closed to others and is not a link', () => {
    opened();
    expect(statSync(join(folder, 'audit.log')).mode & 0o777).toBe(0o600);
    for (const plant of [symlinkSync, linkSync]) {
      rmSync(join(folder, 'audit.log'));
      writeFileSync(join(folder, 'elsewhere'), '');
      plant(join(folder, 'elsewhere'), join(folder, 'audit.log'));
      expect(() => opened()).toThrow(/ELOOP|not a regular file/);
      expect(text('elsewhere')).toBe('');
      rmSync(join(folder, 'elsewhere'));
    }
  });

  it('on a hostile name cannot end its line, forge a line, send control characters to a terminal or fill the log', async () => {
    const names = [
      'a\n{"seq":9,"user":"eve"}',
      '\u001b[2J\u009b31m',
      '\u202egnp.',
      '\u2028',
      '"},{"',
      'x'.repeat(100_000),
    ];
    const audit = opened();
    for (const name of names) audit.begin(act(name)).end('not_found');
    expect(lines()).toHaveLength(names.length);
    expect(text().replaceAll('\n', '')).toMatch(/^[\x20-\x7e]*$/);
    expect(text().length).toBeLessThan(5000);
    const found = await entries(audit);
    expect(found.map(({ targets }) => targets[0]!.name).slice(0, 5)).toEqual(names.slice(0, 5));
    expect(found.map(({ user }) => user)).toEqual(names.map(() => 'ann'));
  });

  it('with thousands of targets has a bounded line', () => {
    const many = Array.from({ length: 10_000 }, (_, n) => ({ name: `box-${n}` }));
    opened()
      .begin({ ...act(), targets: many })
      .end('ok');
    expect(text().length).toBeLessThan(5000);
    expect(text()).toContain('and 9936 more');
  });
});

describe('after a crash', () => {
  it('an act that was cut short gets its line, once', async () => {
    opened().begin(act('first'));
    const audit = opened();
    expect(await entries(audit)).toMatchObject([{ seq: 1, targets: [{ name: 'first' }], outcome: 'cut_short' }]);
    audit.begin(act('second')).end('ok');
    expect((await entries(opened())).map(({ seq, outcome }) => [seq, outcome])).toEqual([
      [1, 'cut_short'],
      [2, 'ok'],
    ]);
  });

  it('an act that has its line already gets no other', async () => {
    const audit = opened();
    const openAct = audit.begin(act());
    const note = text('unfinished');
    openAct.end('ok');
    expect(text('unfinished').trim()).toBe('');
    writeFileSync(join(folder, 'unfinished'), note);
    expect((await entries(opened())).map(({ outcome }) => outcome)).toEqual(['ok']);
    expect(text('unfinished').trim()).toBe('');
  });

  it('a torn last line does not damage the next', async () => {
    opened().begin(act()).end('ok');
    writeFileSync(join(folder, 'audit.log'), '{"seq":2,"id":"x","user":"an', { flag: 'a' });
    opened().begin(act('next')).end('ok');
    expect((await entries(opened())).map(({ seq, targets }) => [seq, targets[0]!.name])).toEqual([
      [1, 'box'],
      [2, 'next'],
    ]);
  });
});

describe('when a file is full', () => {
  it('rotates without losing or tearing a line, and keeps a bounded number of files', async () => {
    const audit = opened(2000, 3);
    for (let n = 1; n <= 50; n += 1) {
      audit.begin(act(`box-${n}`)).end('ok');
      const seqs = (await entries(audit)).map(({ seq }) => seq);
      expect(seqs.at(-1)).toBe(n);
      expect(seqs).toEqual(seqs.map((_, index) => seqs[0]! + index));
    }
    for (const name of ['audit.log', 'audit.log.1', 'audit.log.2']) expect(text(name).length).toBeLessThanOrEqual(2000);
    expect(() => text('audit.log.3')).toThrow();
    expect((await entries(opened(2000, 3))).at(-1)!.seq).toBe(50);
    const again = opened(2000, 3);
    again.begin(act()).end('ok');
    expect((await entries(again, 49)).map(({ seq }) => seq)).toEqual([50, 51]);
  });

  it('a follower gets every line across rotations', async () => {
    const audit = opened(1000, 3);
    const abort = new AbortController();
    const seen: number[] = [];
    const following = (async () => {
      for await (const { seq } of audit.read({ after: 0, follow: true, signal: abort.signal })) {
        seen.push(seq);
        if (seq === 30) abort.abort();
      }
    })();
    for (let n = 1; n <= 30; n += 1) {
      audit.begin(act()).end('ok');
      while (seen.at(-1) !== n) await new Promise((resolve) => setImmediate(resolve));
    }
    await following;
    expect(seen).toEqual(Array.from({ length: 30 }, (_, n) => n + 1));
  });
});

describe('when the file is removed', () => {
  it('the next line creates it again and continues the numbers', async () => {
    const audit = opened();
    audit.begin(act('first')).end('ok');
    rmSync(join(folder, 'audit.log'));
    audit.begin(act('second')).end('ok');
    expect((await entries(audit)).map(({ seq, targets }) => [seq, targets[0]!.name])).toEqual([[2, 'second']]);
  });
});

describe('while an act takes long', () => {
  it('the file of unfinished acts stays small', () => {
    const audit = opened(1e8);
    audit.begin(act('long'));
    for (let n = 0; n < 8000; n += 1) audit.begin(act()).end('ok');
    expect(statSync(join(folder, 'unfinished')).size).toBeLessThan(1.2e6);
    expect(text('unfinished')).toContain('long');
  });
});

describe('a user who acts in a loop', () => {
  it('does not rotate entries of others out, and acts beyond the limit are counted', async () => {
    let ms = 0;
    const audit = limitPerUser({ audit: opened(1e8), owner: 'ann', clock: () => ms });
    audit.begin(act('mine', 'cid')).end('ok');
    for (let n = 0; n < 3000; n += 1) audit.begin(act('flood', 'bob')).end('not_found');
    for (let n = 0; n < 100; n += 1) audit.begin(act('flood', null)).end('unauthenticated');
    ms = 60_000;
    audit.begin(act('again', 'bob')).end('ok');
    audit.begin(act('again', null)).end('ok');
    for (let n = 0; n < 2000; n += 1) audit.begin(act('mine', 'ann')).end('ok');
    const found = await entries(audit);
    const of = (user: string | null) => found.filter((entry) => entry.user === user);
    expect(of('bob').map(({ verb }) => verb)).toEqual([
      ...Array.from({ length: 1000 }, () => 'sandbox.stop'),
      'audit.folded',
      'sandbox.stop',
    ]);
    expect(of('bob').at(-2)!.detail).toEqual({ acts: 2000 });
    expect(of(null)).toHaveLength(12);
    expect(of(null).at(-2)!.detail).toEqual({ acts: 90 });
    expect(of('cid')).toHaveLength(1);
    expect(of('ann')).toHaveLength(2000);
  });
});
