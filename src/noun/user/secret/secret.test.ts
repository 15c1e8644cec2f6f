/** What holds for secrets on disk and in memory alike: no message has a value. */
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Fault } from '../../../model/fault.ts';
import { maxSecretBytes } from '../model.ts';
import { MemorySecrets } from './sandbox-secrets.ts';
import { secretsMount } from './secret.ts';
import { SecretFiles } from './secret-files.ts';

const value = Buffer.from('the-hidden-value');
const id = '00000000000000a1';

let home: string;
let secrets: SecretFiles;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'carrel-secret-'));
  secrets = new SecretFiles(home, (user) => (user === 'eve' ? 'ann' : user));
});
afterEach(() => rmSync(home, { recursive: true }));

const inMemory = (folder: string) => new MemorySecrets('unit', folder);
const file = (name: string) => join(home, 'users/ann/secrets', name);

it.each<[string, Fault['code'], () => unknown]>([
  ['a bad name', 'invalid', () => secrets.set('ann', '../a', value)],
  ['an empty value', 'invalid', () => secrets.set('ann', 'a', Buffer.alloc(0))],
  ['a large value', 'invalid', () => secrets.set('ann', 'a', Buffer.alloc(maxSecretBytes + 1, value))],
  ['the folder of another user', 'denied', () => secrets.set('eve', 'a', value)],
  ['an unknown secret', 'not_found', () => secrets.read('ann', 'b')],
  [
    'a file that others may read',
    'denied',
    () => {
      chmodSync(file('a'), 0o644);
      secrets.read('ann', 'a');
    },
  ],
  [
    'a file that is too large',
    'denied',
    () => {
      writeFileSync(file('a'), Buffer.alloc(maxSecretBytes + 1, value), { mode: 0o600 });
      secrets.read('ann', 'a');
    },
  ],
  [
    'a link',
    'denied',
    () => {
      symlinkSync(file('a'), file('l'));
      secrets.read('ann', 'l');
    },
  ],
  ['a sandbox without memory', 'unsupported', () => inMemory(home).put(id, [{ name: 'a', value }])],
  ['a sandbox with a bad name', 'invalid', () => inMemory(home).put(id, [{ name: '..', value }])],
  ['a sandbox with a bad id', 'internal', () => inMemory(home).put('..', [{ name: 'a', value }])],
])('the refusal of %s does not have the value', (_, code, act) => {
  secrets.set('ann', 'a', value);
  let refused: unknown;
  try {
    act();
  } catch (error) {
    refused = error;
  }
  expect(refused).toBeInstanceOf(Fault);
  const fault = refused as Fault;
  expect(fault.code).toBe(code);
  expect([fault.message, JSON.stringify(fault), String(fault.cause)].join('\n')).not.toContain(value.toString());
});

it('a list has names, times and sizes, and no value', () => {
  secrets.set('ann', 'a', value);
  const [info] = secrets.list('ann');
  expect(Object.keys(info!).sort()).toEqual(['name', 'sizeBytes', 'updatedAt']);
});

it('a sandbox sees its own folder of a tmpfs, read-only', () => {
  expect(secretsMount('unit', id)).toEqual({
    ...{ kind: 'bind', target: '/run/secrets', readonly: true, own: true },
    source: `/dev/shm/carrel-unit/${id}`,
  });
});
