import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Fault } from '../../model/fault.ts';
import { isOpenToOthers, socketOf, tokenFor } from './access.ts';

const token = 'carrel_0123456789-_abcdefghijklmnopqrstuvwxyzABCDEF';
let folder: string;
let warnings: string[];
const warn = (text: string) => void warnings.push(text);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-access-'));
  warnings = [];
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(content: string, mode = 0o600): string {
  const path = join(folder, 'token');
  writeFileSync(path, content, { mode });
  chmodSync(path, mode);
  return path;
}

function refusal(work: () => unknown): Fault {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(Fault);
    return error as Fault;
  }
  throw new Error('it was not refused');
}

test('the socket is CARREL_SOCKET, unless --home is given', () => {
  expect(socketOf(undefined, {})).toBeNull();
  expect(socketOf(undefined, { CARREL_SOCKET: '' })).toBeNull();
  expect(socketOf(undefined, { CARREL_SOCKET: '/run/c/../carrel.sock' })).toBe('/run/carrel.sock');
  expect(socketOf('/h', { CARREL_SOCKET: '/run/carrel.sock' })).toBeNull();
});

test('the token is CARREL_TOKEN, else the content of CARREL_TOKEN_FILE, else none', () => {
  const path = file(`${token}\n`);
  expect(tokenFor(null, warn, {})).toBeUndefined();
  expect(tokenFor('/s', warn, { CARREL_TOKEN_FILE: path })).toBe(token);
  expect(tokenFor('/s', warn, { CARREL_TOKEN: 'other', CARREL_TOKEN_FILE: path })).toBe('other');
  expect(tokenFor(null, warn, { CARREL_TOKEN: token })).toBe(token);
  expect(warnings).toEqual([]);
});

test('a token for a shared daemon is not sent to a home named by --home', () => {
  expect(tokenFor(null, warn, { CARREL_SOCKET: '/s', CARREL_TOKEN: token })).toBeUndefined();
});

test('a token file that others can read causes a warning without its content', () => {
  expect(tokenFor('/s', warn, { CARREL_TOKEN_FILE: file(token, 0o644) })).toBe(token);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('chmod 600');
  expect(warnings[0]).not.toContain(token);
});

test('a token file of root may be readable by its group, any other only by its owner', () => {
  expect(isOpenToOthers({ mode: 0o100640, uid: 0 })).toBe(false);
  expect(isOpenToOthers({ mode: 0o100600, uid: 1000 })).toBe(false);
  expect(isOpenToOthers({ mode: 0o100640, uid: 1000 })).toBe(true);
  expect(isOpenToOthers({ mode: 0o100644, uid: 0 })).toBe(true);
  expect(isOpenToOthers({ mode: 0o100660, uid: 0 })).toBe(true);
});

describe('tokenFor refuses a token file, without showing its content,', () => {
  test.each(['', '\n', `${token}\r\nx: y`, 'two words', 'ü'.repeat(20)])('with the content %j', (content) => {
    const env = { CARREL_TOKEN_FILE: file(content) };
    const fault = refusal(() => tokenFor('/s', warn, env));
    expect(fault.code).toBe('invalid');
    if (content.trim() !== '') expect(JSON.stringify(fault)).not.toContain(content.slice(0, 9));
  });

  test('that is missing', () => {
    const fault = refusal(() => tokenFor('/s', warn, { CARREL_TOKEN_FILE: join(folder, 'absent') }));
    expect(fault.message).toContain('absent');
  });
});
