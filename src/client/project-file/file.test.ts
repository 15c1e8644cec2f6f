import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isFault } from '../../model/fault.ts';
import { openFleetFile, requireFleetFile } from './file.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'carrel-fleet-')));
  file = join(folder, 'carrel.yaml');
});
afterEach(() => rmSync(folder, { recursive: true }));

const refusal = (named: string, trusted?: number[]) => {
  try {
    openFleetFile(named, trusted);
  } catch (error) {
    if (isFault(error)) return [error.code, error.message] as const;
    throw error;
  }
  throw new Error('it was taken');
};

it('a carrel.yaml is read whole, with the real path of its folder', () => {
  symlinkSync(folder, join(folder, 'way'));
  writeFileSync(file, 'name: é\n');
  expect(openFleetFile(join(folder, 'way/carrel.yaml'))).toEqual({
    shown: join(folder, 'way/carrel.yaml'),
    path: file,
    text: 'name: é\n',
  });
  writeFileSync(file, ' '.repeat(64 * 1024));
  expect(openFleetFile(file)!.text).toHaveLength(64 * 1024);
});

it('a carrel.yaml that is named must exist; without a name it may be missing', () => {
  expect(refusal(file)).toEqual(['not_found', expect.stringContaining('does not exist')]);
  expect(refusal(join(folder, 'no/carrel.yaml'))[0]).toBe('not_found');
  expect(refusal('')).toEqual(['invalid', '--file: the path is empty']);
  expect(() => requireFleetFile(undefined)).toThrow('there is no carrel.yaml here');
  expect(openFleetFile(undefined)).toBeNull();
});

it.each([
  ['a link', 'denied', () => symlinkSync('elsewhere', file)],
  ['a folder', 'invalid', () => mkdirSync(file)],
  ['too large', 'invalid', () => writeFileSync(file, ' '.repeat(64 * 1024 + 1))],
  ['no text', 'invalid', () => writeFileSync(file, Buffer.from([0x6e, 0xff]))],
] as const)('a carrel.yaml that is %s is refused', (_, code, make) => {
  make();
  expect(refusal(file)[0]).toBe(code);
});

it('a carrel.yaml of another account, or writable by all, is refused', () => {
  writeFileSync(file, '');
  expect(refusal(file, [1])).toEqual(['denied', expect.stringContaining('belongs to another account')]);
  chmodSync(file, 0o666);
  expect(refusal(file)).toEqual(['denied', expect.stringContaining('can be written by all accounts')]);
});

it('a socket in place of carrel.yaml is refused at once', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(file, resolve));
  expect(() => openFleetFile(file)).toThrow();
  await new Promise((resolve) => server.close(resolve));
});
