/** What sandboxes are given, before any has it: folders in memory, what others planted there, what a crash left. */
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
import { Given } from '../../src/secret/given.ts';
import { installationId } from '../harness/run.ts';

const one = '00000000000000a1';
const two = '00000000000000b2';

let installation: string;
let all: string;
let given: Given;

beforeEach(() => {
  installation = installationId();
  all = `/dev/shm/carrel-${installation}`;
  given = new Given(installation);
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

describe('what is given', () => {
  it('is there with the right modes, however often, and no more than is granted', () => {
    given.give(one, [secret('a', 'first'), secret('b', 'value')]);
    given.give(one, [secret('a', 'second'), secret('c', 'value')]);
    given.give(one, [secret('a', 'second'), secret('c', 'value')]);
    expect(readdirSync(join(all, one)).sort()).toEqual(['a', 'c']);
    expect(readFileSync(join(all, one, 'a'), 'utf8')).toBe('second');
    expect([all, join(all, one), join(all, one, 'a')].map(modeOf)).toEqual(['700', '700', '400']);
    expect(readdirSync(all)).toEqual([one]);
  });

  it('is taken back for one sandbox, and the last takes the folder with it', () => {
    given.give(one, [secret('a', 'value')]);
    given.give(two, [secret('a', 'value')]);
    given.takeBack(one);
    given.takeBack(one);
    expect(readdirSync(all)).toEqual([two]);
    given.takeBack(two);
    expect(existsSync(all)).toBe(false);
    given.takeBack(two);
  });

  it('is replaced only where it was given', () => {
    given.give(one, [secret('a', 'old')]);
    expect(given.rotate(one, 'a', Buffer.from('new'))).toBe(true);
    expect(given.rotate(one, 'b', Buffer.from('new'))).toBe(false);
    expect(given.rotate(two, 'a', Buffer.from('new'))).toBe(false);
    expect(readFileSync(join(all, one, 'a'), 'utf8')).toBe('new');
    expect([readdirSync(all), readdirSync(join(all, one))]).toEqual([[one], ['a']]);
    given.takeBack(one);
    expect(given.rotate(one, 'a', Buffer.from('new'))).toBe(false);
  });

  it('goes with the next sweep if nobody knows the sandbox, and so does what was not finished', () => {
    given.sweep(() => true);
    given.give(one, [secret('a', 'value')]);
    given.give(two, [secret('a', 'value')]);
    writeFileSync(join(all, '.new'), 'unfinished', { mode: 0o400 });
    given.sweep((id) => id === two);
    expect(readdirSync(all)).toEqual([two]);
    given.sweep(() => false);
    expect(existsSync(all)).toBe(false);
  });

  it('never touches a disk', () => {
    for (const place of ['/proc', '/nowhere']) {
      const elsewhere = new Given(installation, place);
      expect(codeOf(() => elsewhere.give(one, [secret('a', 'value')]))).toBe('unsupported');
      expect(codeOf(() => elsewhere.rotate(one, 'a', Buffer.from('x')))).toBe('unsupported');
      elsewhere.sweep(() => false);
      elsewhere.takeBack(one);
    }
  });

  it.each(['', '..', 'x', `${one}/..`])('is not for a sandbox %j', (id) => {
    const acts = [() => given.give(id, []), () => given.rotate(id, 'a', Buffer.from('x')), () => given.takeBack(id)];
    expect(acts.map(codeOf)).toEqual(['internal', 'internal', 'internal']);
    expect(codeOf(() => given.give(one, [secret('../a', 'value')]))).toBe('invalid');
    expect(existsSync(all)).toBe(false);
  });
});

it('a folder of somebody else is not used, and not ours to clean', () => {
  mkdirSync(all, { mode: 0o700 });
  writeFileSync(join(all, 'theirs'), 'untouched');
  chownSync(all, 1, 1);
  expect(codeOf(() => given.give(one, [secret('a', 'value')]))).toBe('denied');
  expect(codeOf(() => given.rotate(one, 'a', Buffer.from('value')))).toBe('denied');
  given.takeBack(one);
  given.sweep(() => false);
  expect(readdirSync(all)).toEqual(['theirs']);
});

describe('links that were planted', () => {
  let other: string;
  beforeEach(() => {
    other = mkdtempSync(join(tmpdir(), 'carrel-secret-'));
    writeFileSync(join(other, 'a'), 'untouched');
  });
  afterEach(() => rmSync(other, { recursive: true }));

  it.each(['all', 'one', 'file'])('at the place of %s lead nowhere', (place) => {
    if (place !== 'all') mkdirSync(all, { mode: 0o700 });
    if (place === 'file') mkdirSync(join(all, one), { mode: 0o700 });
    const paths: Record<string, [string, string]> = {
      all: [other, all],
      one: [other, join(all, one)],
      file: [join(other, 'a'), join(all, one, 'a')],
    };
    symlinkSync(...paths[place]!);
    expect(codeOf(() => given.give(one, [secret('a', 'value')]))).toBe('denied');
    expect(codeOf(() => given.rotate(one, 'a', Buffer.from('value')))).toBe('denied');
    given.takeBack(one);
    given.sweep(() => false);
    expect(readdirSync(other)).toEqual(['a']);
    expect(readFileSync(join(other, 'a'), 'utf8')).toBe('untouched');
  });
});
