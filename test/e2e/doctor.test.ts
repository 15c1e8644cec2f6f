// @needs root
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation } from '../harness/installation.ts';
import { createRootlessAccount, type RootlessAccount } from '../harness/rootless.ts';

interface Row {
  readonly name: string;
  readonly level: 'ok' | 'warning' | 'failure';
  readonly detail: string;
  readonly hint: string | null;
}

const claims = [...readFileSync('SECURITY.md', 'utf8').matchAll(/^\| `([a-z-]+)` \|/gm)].map((match) => match[1]!);
const limits = ['memory', 'cpu'];

function named(rows: readonly Row[], name: string): Row {
  const found = rows.filter((row) => row.name === name);
  expect(found).toHaveLength(1);
  return found[0]!;
}

function claimRows(rows: readonly Row[]): Row[] {
  return claims.map((name) => named(rows, name));
}

async function namesOf(carrel: Installation): Promise<string[]> {
  return (await carrel.list()).map(({ name }) => name);
}

function sandboxFolders(carrel: Installation): string[] {
  return readdirSync(join(carrel.home, 'sandboxes'));
}

describe('doctor as root', () => {
  let carrel: Installation;
  let rows: readonly Row[];
  beforeAll(async () => {
    carrel = new Installation();
    rows = await carrel.json<Row[]>('doctor');
  });
  afterAll(() => carrel.dispose());

  it('proves every claim of SECURITY.md and leaves nothing behind', async () => {
    expect(claims.length).toBeGreaterThan(20);
    expect(claimRows(rows).filter(({ level }) => level !== 'ok')).toEqual([]);
    expect(rows.filter(({ level }) => level === 'failure')).toEqual([]);
    expect(await namesOf(carrel)).toEqual([]);
    expect(sandboxFolders(carrel)).toEqual([]);
    expect(readdirSync(join(carrel.home, 'engine', 'run'))).toEqual([]);
    expect(readdirSync(join(carrel.home, 'engine')).filter((name) => name.startsWith('trial'))).toEqual([]);
  });

  it('reports on the machine, with a hint for each row that is not ok', () => {
    const looked = ['kernel', 'user-namespaces', 'subordinate-ids', 'conmon', 'init', 'cgroups', 'overlay'];
    const further = ['seccomp-kernel', 'idmapped-mounts', 'disk-space', 'disk-inodes', 'inotify', 'git', 'ripgrep'];
    for (const name of [...looked, ...further, 'unshare', 'leftovers', 'sandbox', 'mcp-port']) named(rows, name);
    expect(rows.some(({ name, detail }) => /^runtime-/.test(name) && /^\w+ [\d.]+ at \//.test(detail))).toBe(true);
    for (const row of rows) {
      expect(Object.keys(row)).toEqual(['name', 'level', 'detail', 'hint']);
      expect(row.hint === null).toBe(row.level === 'ok');
      expect(`${row.detail}${row.hint}`).not.toContain('\n');
    }
  });

  it('prints a line for each row', async () => {
    const { exitCode, stdout, stderr } = await carrel.run(['doctor']);
    expect([exitCode, stderr, stdout.split('\n').filter((line) => line.startsWith('✗'))]).toEqual([0, '', []]);
    for (const name of claims) expect(stdout).toMatch(new RegExp(`^✓ +${name} `, 'm'));
  });

  it('leaves other sandboxes and a second doctor alone', async () => {
    await carrel.ok('create', '--name', 'mine', '--', 'sleep', '600');
    const both = await Promise.all([carrel.json<Row[]>('doctor'), carrel.json<Row[]>('doctor')]);
    for (const rows of both) expect(claimRows(rows).filter(({ level }) => level !== 'ok')).toEqual([]);
    expect(await namesOf(carrel)).toEqual(['mine']);
    await carrel.ok('rm', '--force', 'mine');
  });

  it('warns about a sandbox folder without a record', async () => {
    const stray = join(carrel.home, 'sandboxes', '0123456789abcdef');
    mkdirSync(stray);
    const { exitCode, stdout } = await carrel.run(['--json', 'doctor']);
    rmdirSync(stray);
    const row = named(JSON.parse(stdout) as Row[], 'leftovers');
    expect(row).toMatchObject({ level: 'warning', hint: `rm -r ${stray}` });
    expect(exitCode).toBe(0);
  });

  it('fails with the hint when a claim does not hold', async () => {
    chmodSync(carrel.home, 0o755);
    const { exitCode, stdout } = await carrel.run(['doctor']);
    chmodSync(carrel.home, 0o700);
    expect(stdout).toContain(`hint: chmod go= ${carrel.home}`);
    expect(exitCode).toBe(3);
  });
});

describe('doctor as an ordinary user', () => {
  let account: RootlessAccount;
  let carrel: Installation;
  beforeAll(() => {
    account = createRootlessAccount();
    carrel = new Installation(account);
  });
  afterAll(async () => {
    await carrel.dispose();
    account.dispose();
  });

  it('proves every claim but the limits, whose control groups are not delegated', async () => {
    const rows = await carrel.json<Row[]>('doctor');
    const others = claimRows(rows).filter(({ name }) => !limits.includes(name));
    expect(others.filter(({ level }) => level !== 'ok')).toEqual([]);
    for (const name of limits) expect(named(rows, name).level).toBe('warning');
    expect(named(rows, 'cgroups')).toMatchObject({ level: 'warning', hint: expect.stringContaining('enable-linger') });
    expect(named(rows, 'newuidmap').level).toBe('ok');
    expect(named(rows, 'subordinate-ids').detail).toContain('room for');
    expect(await namesOf(carrel)).toEqual([]);
    expect(sandboxFolders(carrel)).toEqual([]);
  });
});
