/** Secrets as files: who may read them, entries that others planted, and crashes. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asFault, type FaultCode } from '../../src/model/fault.ts';
import { maxSecretBytes, maxSecretsPerUser } from '../../src/noun/user/model.ts';
import { SecretFiles } from '../../src/noun/user/secret/secret-files.ts';

const hash = 'cafe0123';
const writer = join(import.meta.dirname, '../fixtures/secret-writer.mjs');

let home: string;
let secrets: SecretFiles;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'carrel-secret-'));
  secrets = new SecretFiles(home, () => hash);
});

afterEach(() => rmSync(home, { recursive: true }));

function at(...names: string[]): string {
  return join(home, 'users', hash, ...names);
}

function codeOf(work: () => unknown): FaultCode | null {
  try {
    work();
    return null;
  } catch (error) {
    return asFault(error).code;
  }
}

describe('a secret', () => {
  it('is kept, listed without its value, replaced and removed', () => {
    const before = new Date(Date.now() - 1000);
    secrets.set('ann', 'b', Buffer.from([0, 255, 10]));
    secrets.set('ann', 'a', Buffer.from('first'));
    expect(secrets.list('ann')).toEqual([
      { name: 'a', updatedAt: expect.any(String), sizeBytes: 5 },
      { name: 'b', updatedAt: expect.any(String), sizeBytes: 3 },
    ]);
    expect(new Date(secrets.list('ann')[0]!.updatedAt) > before).toBe(true);
    secrets.set('ann', 'a', Buffer.from('second'));
    expect(secrets.read('ann', 'a').toString()).toBe('second');
    expect(secrets.read('ann', 'b')).toEqual(Buffer.from([0, 255, 10]));
    secrets.remove('ann', 'a');
    expect(secrets.list('ann').map(({ name }) => name)).toEqual(['b']);
    expect(readdirSync(at()).sort()).toEqual(['owner', 'secrets']);
  });

  it('that does not exist is not found, and nothing is created by the search', () => {
    expect(secrets.list('ann')).toEqual([]);
    expect(secrets.containing('ann', 'text')).toBe(null);
    expect(codeOf(() => secrets.read('ann', 'a'))).toBe('not_found');
    expect(codeOf(() => secrets.remove('ann', 'a'))).toBe('not_found');
    expect(readdirSync(home)).toEqual([]);
  });

  it('has private modes, whatever the umask', () => {
    const umask = process.umask(0);
    secrets.set('ann', 'a', Buffer.from('value'));
    process.umask(umask);
    const modes = [['..'], [], ['secrets'], ['owner'], ['secrets', 'a']].map((names) => statSync(at(...names)).mode);
    expect(modes.map((mode) => (mode & 0o7777).toString(8))).toEqual(['700', '700', '700', '600', '600']);
    expect(readFileSync(at('owner'), 'utf8')).toBe('ann');
  });

  it.each(['', '..', '../owner', '.new', 'a/b', 'a\0'])('cannot be named %j', (name) => {
    const acts = [() => secrets.set('ann', name, Buffer.from('x')), () => secrets.read('ann', name)];
    expect([...acts, () => secrets.remove('ann', name)].map(codeOf)).toEqual(['invalid', 'invalid', 'invalid']);
    expect(readdirSync(home)).toEqual([]);
  });

  it('has a bounded size', () => {
    expect(codeOf(() => secrets.set('ann', 'a', Buffer.alloc(0)))).toBe('invalid');
    expect(codeOf(() => secrets.set('ann', 'a', Buffer.alloc(maxSecretBytes + 1)))).toBe('invalid');
    secrets.set('ann', 'a', Buffer.alloc(maxSecretBytes, 'x'));
    expect(secrets.read('ann', 'a').length).toBe(maxSecretBytes);
  });

  it('is refused if its user has too many', () => {
    secrets.set('ann', 'n0', Buffer.from('x'));
    for (let n = 1; n < maxSecretsPerUser; n += 1) writeFileSync(at('secrets', `n${n}`), 'x', { mode: 0o600 });
    expect(codeOf(() => secrets.set('ann', 'more', Buffer.from('x')))).toBe('exhausted');
    secrets.set('ann', 'n0', Buffer.from('replaced'));
    secrets.remove('ann', 'n1');
    secrets.set('ann', 'more', Buffer.from('x'));
    expect(secrets.list('ann').length).toBe(maxSecretsPerUser);
  });

  it('is found in a text by name, and only by its own user', () => {
    secrets = new SecretFiles(home, (user) => `${hash.slice(user.length)}${user}`);
    secrets.set('ann', 'short', Buffer.from('on\n'));
    secrets.set('ann', 'token', Buffer.from('tok-0123456789\n'));
    expect(secrets.containing('ann', 'Bearer tok-0123456789')).toBe('token');
    expect(secrets.containing('ann', `Basic ${btoa('x:tok-0123456789')}`)).toBe('token');
    expect(secrets.containing('ann', 'on')).toBe('short');
    expect(secrets.containing('ann', 'only')).toBe(null);
    expect(secrets.containing('ann', '1', 'on', '2')).toBe('short');
    expect(secrets.containing('bob', 'Bearer tok-0123456789')).toBe(null);
  });
});

describe('the secrets refuse', () => {
  const everyAct = (name = 'a') => [
    codeOf(() => secrets.set('ann', name, Buffer.from('new'))),
    codeOf(() => secrets.list('ann')),
    codeOf(() => secrets.read('ann', name)),
    codeOf(() => secrets.remove('ann', name)),
    codeOf(() => secrets.containing('ann', 'some text')),
  ];
  const denied = Array(5).fill('denied');

  it('another user with the same hash', () => {
    secrets.set('bob', 'a', Buffer.from("bob's own value"));
    expect(everyAct()).toEqual(denied);
    expect(secrets.read('bob', 'a').toString()).toBe("bob's own value");
  });

  it('any user if the owner file is missing', () => {
    secrets.set('bob', 'a', Buffer.from('value'));
    rmSync(at('owner'));
    expect(everyAct()).toEqual(Array(5).fill('corrupt'));
  });

  it.each([
    ['a link', (path: string, other: string) => symlinkSync(other, path)],
    ['a link to nothing', (path: string) => symlinkSync('/nowhere', path)],
    ['a folder', (path: string) => mkdirSync(path, { mode: 0o700 })],
    ['a FIFO', (path: string) => void spawnSync('mkfifo', ['-m', '600', path])],
    ['a file of another account', givenAway],
    ['a file that others may read', (path: string) => writeFileSync(path, 'value', { mode: 0o644 })],
  ])('%s in place of a secret', (_, plant) => {
    secrets.set('ann', 'b', Buffer.from('value'));
    const other = join(home, 'other');
    writeFileSync(other, 'some text', { mode: 0o600 });
    plant(at('secrets', 'a'), other);
    expect(everyAct()).toEqual(denied);
    expect(readFileSync(other, 'utf8')).toBe('some text');
    expect(secrets.read('ann', 'b').toString()).toBe('value');
  });

  it.each([['..'], ['.'], ['secrets']])('a link or an open folder at %s', (name) => {
    secrets.set('ann', 'a', Buffer.from('value'));
    chmodSync(at(name), 0o750);
    expect(everyAct()).toEqual(denied);
    chmodSync(at(name), 0o700);
    const [real, moved] = [join(at(name)), join(home, 'moved')];
    spawnSync('mv', ['-T', real, moved]);
    symlinkSync(moved, real);
    expect(everyAct()).toEqual(denied);
    expect(existsSync(join(moved, '.new'))).toBe(false);
  });

  it('to write through a link in the place of the temporary file', () => {
    const other = join(home, 'other');
    writeFileSync(other, 'untouched', { mode: 0o600 });
    secrets.set('ann', 'a', Buffer.from('value'));
    symlinkSync(other, at('.new'));
    secrets.set('ann', 'a', Buffer.from('new value'));
    linkSync(other, at('.new'));
    secrets.set('ann', 'a', Buffer.from('newer value'));
    expect(readFileSync(other, 'utf8')).toBe('untouched');
    expect(secrets.read('ann', 'a').toString()).toBe('newer value');
  });
});

function givenAway(path: string): void {
  writeFileSync(path, 'value', { mode: 0o600 });
  chownSync(path, 1, 1);
}

describe('a crash', () => {
  const bytes = 300_000;

  it('at any moment leaves the old value or the new one', async () => {
    for (let round = 0; round < 12; round += 1) {
      const child = spawn('node', [writer, home, 'ann', 'a', String(bytes)], { stdio: ['ignore', 'pipe', 'inherit'] });
      const gone = once(child, 'exit');
      for (let said = 0; said <= round; said += 1) await once(child.stdout, 'data');
      child.kill('SIGKILL');
      await gone;
      const value = secrets.read('ann', 'a');
      expect(value.length).toBe(bytes);
      expect(value.equals(Buffer.alloc(bytes, value.subarray(0, 1)))).toBe(true);
      expect(secrets.list('ann').map(({ name }) => name)).toEqual(['a']);
    }
  });

  it('before the end of a change leaves the old value, and nothing of the new one after the next', () => {
    secrets.set('ann', 'a', Buffer.from('old value'));
    const env = { ...process.env, CARREL_CRASH_AT: 'secret:written' };
    expect(spawnSync('node', [writer, home, 'ann', 'a', String(bytes)], { env }).signal).toBe('SIGKILL');
    expect(secrets.read('ann', 'a').toString()).toBe('old value');
    expect(readdirSync(at())).toContain('.new');
    secrets.remove('ann', 'a');
    expect([readdirSync(at()).sort(), readdirSync(at('secrets'))]).toEqual([['owner', 'secrets'], []]);
  });
});
