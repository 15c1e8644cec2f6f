import { describe, expect, test } from 'vitest';
import type { Fault } from '../model/fault.ts';
import { sandboxRequest } from '../noun/sandbox/cli/request.ts';
import { uidOf } from '../noun/user/cli/account.ts';
import { checkVolume } from '../noun/volume/cli/volume.ts';
import { parseEnv } from './env.ts';
import { homeOf } from './home.ts';
import { parseCount, parseNumber, parsePairs, parseSeconds } from './option.ts';
import { absolute } from './paths.ts';

/** Expects a Fault `invalid` with a hint. */
function invalid(work: () => unknown): void {
  expect(work).toThrowError(expect.objectContaining({ code: 'invalid', hint: expect.any(String) }) as Fault);
}

test('pairs keep everything after the first =', () => {
  expect(parsePairs(['a=b=c', 'd=', 'a=last', '__proto__=x'], '--label')).toEqual(
    Object.fromEntries([
      ['a', 'last'],
      ['d', ''],
      ['__proto__', 'x'],
    ]),
  );
});

describe('the options refuse', () => {
  test.each(['=x', 'NOT_SET', '', '1A=x', 'A-B=x', 'A\n=x'])('--env %j', (text) => invalid(() => parseEnv([text], {})));
  test.each(['', '-1', '1e3', 'NaN', '0x10', '1.'])('number %j', (text) => invalid(() => parseNumber(text, '--cpus')));
  test.each(['', '1.5', '-1', '9'.repeat(16)])('count %j', (text) => invalid(() => parseCount(text, '--tail')));
  test('a count that is too small', () => invalid(() => parseCount('0', '--max', 1)));
  test.each(['lots', '-4g', '4x', '', '99999999999t'])('--memory %j', (memory) =>
    invalid(() => sandboxRequest({ memory }, undefined, [])),
  );
  test('a bad name, an empty project, an empty root', () => {
    invalid(() => sandboxRequest({ name: '../x' }, undefined, []));
    invalid(() => sandboxRequest({}, '', []));
    invalid(() => sandboxRequest({ rootfs: '' }, undefined, []));
    invalid(() => homeOf(''));
    invalid(() => absolute('', 'FILE'));
  });
  test.each(['', 'a b', '-x', '[::1', 'a:0', 'all', 'localhost:80'])('--network %j, and name the option', (network) => {
    invalid(() => sandboxRequest({ network }, undefined, []));
    expect(() => sandboxRequest({ network }, undefined, [])).toThrow(/^--network: /);
  });
  test.each(['', 'a/b', '../x', 'a b', '-x'])('--secret %j', (name) => {
    invalid(() => sandboxRequest({ secret: [name] }, undefined, []));
  });
  test.each(['', 'home', 'home:', ':/x', 'home:x', 'home:/x:rw', 'home:/x:ro:ro', 'home:/../x'])(
    '--volume %j',
    (text) => {
      invalid(() => sandboxRequest({ volume: [text] }, undefined, []));
    },
  );
  test.each(['', 'Home', 'a/b', '-x', 'a'.repeat(129)])('volume %j', (name) => invalid(() => checkVolume(name)));
  test('an account id that cannot exist', async () => {
    await expect(uidOf({ uid: '4294967295' })).rejects.toMatchObject({ code: 'invalid' });
    await expect(uidOf({ uid: 'root' })).rejects.toMatchObject({ code: 'invalid' });
    await expect(uidOf({ uid: '1', account: 'a' })).rejects.toMatchObject({ code: 'invalid' });
  });
});

test('the id of an account is a number, or null if none is given', async () => {
  expect(await uidOf({})).toBeNull();
  expect(await uidOf({ uid: '0' })).toBe(0);
  expect(await uidOf({ uid: '4294967294' })).toBe(0xffff_fffe);
});

test('seconds become milliseconds', () => {
  expect(parseSeconds('0', '--grace')).toBe(0);
  expect(parseSeconds('1.5', '--grace')).toBe(1500);
});

test('without options the request has only mode, command and limits', () => {
  expect(sandboxRequest({}, undefined, ['true'])).toEqual({ mode: 'none', command: ['true'], limits: {} });
});

test('all options reach the request', () => {
  const request = sandboxRequest(
    {
      ...{ name: 'a', engine: 'local', runtime: 'crun', cpus: '1.5', memory: '512m', swap: '1g' },
      ...{ pids: '64', disk: '2g', env: ['A=1'], rootfs: '/r', label: ['l=2'], rm: true, base: 'frozen' },
      ...{
        secret: ['KEY', 'b', 'KEY'],
        credential: ['claude', 'claude'],
        service: ['notes'],
        volume: ['home:/h', 'carrel-x:/data/x:ro'],
      },
    },
    '/p/../q',
    [],
  );
  expect(request).toEqual({
    ...{ name: 'a', engine: 'local', runtime: 'crun', project: '/q', mode: 'overlay', command: [] },
    base: 'frozen',
    secrets: ['KEY', 'b'],
    credentials: ['claude'],
    services: ['notes'],
    volumes: [
      { volume: 'home', target: '/h', readonly: false },
      { volume: 'carrel-x', target: '/data/x', readonly: true },
    ],
    limits: { cpus: 1.5, memoryBytes: 512 * 1024 ** 2, swapBytes: 1024 ** 3, pids: 64, diskBytes: 2 * 1024 ** 3 },
    ...{ env: { A: '1' }, rootfs: '/r', labels: { l: '2' }, autoRemove: true },
  });
});

test('a mode that the user chose overrides the default', () => {
  expect(sandboxRequest({ mode: 'none' }, '/p', [])).toMatchObject({ mode: 'none', project: '/p' });
});

test('the home is the flag, else CARREL_HOME, else ~/.carrel', () => {
  expect(homeOf('/a', { CARREL_HOME: '/b' })).toBe('/a');
  expect(homeOf(undefined, { CARREL_HOME: '/b/' })).toBe('/b');
  expect(homeOf(undefined, { CARREL_HOME: '' })).toMatch(/\/\.carrel$/);
});
