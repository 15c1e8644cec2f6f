/** The folders of sandbox secrets in memory: modes, planted links, leftovers of a crash. */
import {
  chownSync,
  existsSync,
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
import { MemorySecrets } from '../../src/noun/user/secret/sandbox-secrets.ts';
import { installationId } from '../harness/run.ts';

const one = '00000000000000a1';
const two = '00000000000000b2';

let installation: string;
let all: string;
let secrets: MemorySecrets;

beforeEach(() => {
  installation = installationId();
  all = `/dev/shm/carrel-${installation}`;
  secrets = new MemorySecrets(installation);
});

afterEach(() => rmSync(all, { recursive: true, force: true }));

function secret(name: string, value: string) {
  return { name, value: Buffer.from(value) };
}

function codeOf(work: () => unknown): FaultCode | null {
  try {
    work();
    return null;
  } catch (error) {
    return asFault(error).code;
  }
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o7777).toString(8);
}

describe('a secret of a sandbox', () => {
  it('has the right modes, however often it is put, and is removed when it is no longer granted', () => {
    secrets.put(one, [secret('a', 'first'), secret('b', 'value')]);
    secrets.put(one, [secret('a', 'second'), secret('c', 'value')]);
    secrets.put(one, [secret('a', 'second'), secret('c', 'value')]);
    expect(readdirSync(join(all, one)).sort()).toEqual(['a', 'c']);
    expect(readFileSync(join(all, one, 'a'), 'utf8')).toBe('second');
    expect([all, join(all, one), join(all, one, 'a')].map(modeOf)).toEqual(['700', '700', '400']);
    expect(readdirSync(all)).toEqual([one]);
  });

  it('is removed for one sandbox, and the folder with the last one', () => {
    secrets.put(one, [secret('a', 'value')]);
    secrets.put(two, [secret('a', 'value')]);
    secrets.remove(one);
    secrets.remove(one);
    expect(readdirSync(all)).toEqual([two]);
    secrets.remove(two);
    expect(existsSync(all)).toBe(false);
    secrets.remove(two);
  });

  it('is replaced only if the sandbox has it', () => {
    secrets.put(one, [secret('a', 'old')]);
    expect(secrets.rotate(one, 'a', Buffer.from('new'))).toBe(true);
    expect(secrets.rotate(one, 'b', Buffer.from('new'))).toBe(false);
    expect(secrets.rotate(two, 'a', Buffer.from('new'))).toBe(false);
    expect(readFileSync(join(all, one, 'a'), 'utf8')).toBe('new');
    expect([readdirSync(all), readdirSync(join(all, one))]).toEqual([[one], ['a']]);
    secrets.remove(one);
    expect(secrets.rotate(one, 'a', Buffer.from('new'))).toBe(false);
  });

  it('is removed by a sweep if the sandbox is unknown, and so is an unfinished file', () => {
    secrets.sweep(() => true);
    secrets.put(one, [secret('a', 'value')]);
    secrets.put(two, [secret('a', 'value')]);
    writeFileSync(join(all, '.new'), 'unfinished', { mode: 0o400 });
    secrets.sweep((id) => id === two);
    expect(readdirSync(all)).toEqual([two]);
    secrets.sweep(() => false);
    expect(existsSync(all)).toBe(false);
  });

  it('is refused if its folder would not be in memory', () => {
    for (const place of ['/proc', '/nowhere']) {
      const elsewhere = new MemorySecrets(installation, place);
      expect(codeOf(() => elsewhere.put(one, [secret('a', 'value')]))).toBe('unsupported');
      expect(codeOf(() => elsewhere.rotate(one, 'a', Buffer.from('x')))).toBe('unsupported');
      elsewhere.sweep(() => false);
      elsewhere.remove(one);
    }
  });

  it.each(['', '..', 'x', `${one}/..`])('is refused for the sandbox id %j', (id) => {
    const acts = [() => secrets.put(id, []), () => secrets.rotate(id, 'a', Buffer.from('x')), () => secrets.remove(id)];
    expect(acts.map(codeOf)).toEqual(['internal', 'internal', 'internal']);
    expect(codeOf(() => secrets.put(one, [secret('../a', 'value')]))).toBe('invalid');
    expect(existsSync(all)).toBe(false);
  });
});

it('a folder of another account is neither used nor removed', () => {
  mkdirSync(all, { mode: 0o700 });
  writeFileSync(join(all, 'theirs'), 'untouched');
  chownSync(all, 1, 1);
  expect(codeOf(() => secrets.put(one, [secret('a', 'value')]))).toBe('denied');
  expect(codeOf(() => secrets.rotate(one, 'a', Buffer.from('value')))).toBe('denied');
  secrets.remove(one);
  secrets.sweep(() => false);
  expect(readdirSync(all)).toEqual(['theirs']);
});

describe('planted links', () => {
  let other: string;
  beforeEach(() => {
    other = mkdtempSync(join(tmpdir(), 'carrel-secret-'));
    writeFileSync(join(other, 'a'), 'untouched');
  });
  afterEach(() => rmSync(other, { recursive: true }));

  it.each(['all', 'one', 'file'])('in the place of %s are not followed', (place) => {
    if (place !== 'all') mkdirSync(all, { mode: 0o700 });
    if (place === 'file') mkdirSync(join(all, one), { mode: 0o700 });
    const paths: Record<string, [string, string]> = {
      all: [other, all],
      one: [other, join(all, one)],
      file: [join(other, 'a'), join(all, one, 'a')],
    };
    symlinkSync(...paths[place]!);
    expect(codeOf(() => secrets.put(one, [secret('a', 'value')]))).toBe('denied');
    expect(codeOf(() => secrets.rotate(one, 'a', Buffer.from('value')))).toBe('denied');
    secrets.remove(one);
    secrets.sweep(() => false);
    expect(readdirSync(other)).toEqual(['a']);
    expect(readFileSync(join(other, 'a'), 'utf8')).toBe('untouched');
  });
});
