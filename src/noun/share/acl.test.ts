import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readAttribute } from '../../lib/sys/sys-attribute.ts';
import { changeGrants } from './acl.ts';

let folder: string;
let fd: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-acl-'));
  mkdirSync(join(folder, 'in'), { mode: 0o750 });
  fd = openSync(join(folder, 'in'), 'r');
});
afterEach(() => {
  closeSync(fd);
  rmSync(folder, { recursive: true });
});

const group = { kind: 'group', id: 4242, readonly: false } as const;
const user = { kind: 'user', id: 4343, readonly: true } as const;
const tags: Record<number, string> = { 1: 'owner', 2: 'user', 4: 'group', 8: 'named', 16: 'mask', 32: 'other' };

function entries(of: number, kind: 'access' | 'default'): string[] {
  const bytes = readAttribute(of, `system.posix_acl_${kind}`);
  if (bytes === null) return [];
  return Array.from({ length: (bytes.length - 4) / 8 }, (_, at) => {
    const [tag, bits, id] = [
      bytes.readUInt16LE(4 + 8 * at),
      bytes.readUInt16LE(6 + 8 * at),
      bytes.readUInt32LE(8 + 8 * at),
    ];
    return `${tags[tag]} ${id === 0xffff_ffff ? '' : `${id} `}${bits}`;
  });
}

it('new files inherit the grants of a group and a user, and give no access to other accounts', () => {
  changeGrants(fd, [group, user], []);
  expect(entries(fd, 'access')).toEqual(['owner 7', 'user 4343 5', 'group 5', 'named 4242 7', 'mask 7', 'other 0']);
  writeFileSync(join(folder, 'in/file'), '');
  const file = openSync(join(folder, 'in/file'), 'r');
  const inherited = entries(file, 'access');
  closeSync(file);
  expect(inherited).toEqual(expect.arrayContaining([`user ${process.getuid!()} 7`, 'named 4242 7', 'other 0']));
  expect(statSync(join(folder, 'in/file')).mode & 0o007).toBe(0);
});

it('a repeated change has no effect, and the folder is as before when the last grant is revoked', () => {
  for (let times = 0; times < 2; times += 1) changeGrants(fd, [group, user], []);
  changeGrants(fd, [user], [group]);
  expect(entries(fd, 'access')).toEqual(['owner 7', 'user 4343 5', 'group 5', 'mask 7', 'other 0']);
  for (let times = 0; times < 2; times += 1) changeGrants(fd, [], [user]);
  expect([entries(fd, 'access'), entries(fd, 'default')]).toEqual([[], []]);
  expect(statSync(join(folder, 'in')).mode & 0o777).toBe(0o750);
});

it('a change of grants keeps the entries of other ids', () => {
  changeGrants(fd, [{ ...user, id: 5555 }], []);
  changeGrants(fd, [group], []);
  changeGrants(fd, [], [group]);
  expect(entries(fd, 'access')).toContain('user 5555 5');
});
