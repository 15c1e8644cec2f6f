import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Anchor, within } from './anchor.ts';
import { entryTypes, namesOf, typedNames } from './folder-names.ts';

const folder = mkdtempSync(join(tmpdir(), 'carrel-names-'));
afterAll(() => rmSync(folder, { recursive: true }));
const opened = <T>(work: (fd: number) => T) => within(Anchor.open(folder), ({ fd }) => work(fd));

describe('the names in a folder', () => {
  const many = Array.from({ length: 3000 }, (_, n) => `${n}-${'x'.repeat(n % 200)}`);
  for (const name of many) writeFileSync(join(folder, name), '');
  for (const name of ['.hidden', '...', '..x', 'ü']) mkdirSync(join(folder, name));
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x66, 0xff])]), '');
  symlinkSync('nowhere', join(folder, 'link'));

  it('are those that Node reads, any number of times', () => {
    const expected = readdirSync(folder, { encoding: 'latin1' }).sort();
    expect(expected.length).toBe(many.length + 6);
    opened((fd) => expect([namesOf(fd).sort(), namesOf(fd).sort()]).toEqual([expected, expected]));
  });

  it('are chosen by type', () => {
    const of = (type: number) => opened((fd) => typedNames(fd, (one) => one === type).map(({ name }) => name));
    expect(of(entryTypes.link)).toEqual(['link']);
    expect(of(entryTypes.folder).sort()).toEqual(['...', '..x', '.hidden', Buffer.from('ü').toString('latin1')].sort());
    expect(of(entryTypes.file).length).toBe(many.length + 1);
  });

  it('are read up to a limit', () => {
    expect(opened((fd) => typedNames(fd, () => true, 7)).length).toBe(7);
  });
});
