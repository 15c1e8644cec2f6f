import { once } from 'node:events';
import { chmodSync, lchownSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openFolder, shareFolder } from './folder.ts';

let place: string;
beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'carrel-share-')));
  for (const name of ['home', 'in', 'other', 'links']) mkdirSync(join(place, name));
});
afterEach(() => rmSync(place, { recursive: true }));

const rules = () => ({
  ...{ home: join(place, 'home'), open: [] as string[], sockets: [] as string[] },
  ...{ shares: [] as { name: string; folder: string }[], account: 'any' as number | 'any' | null },
});
const share = (name: string, more = {}) => shareFolder(join(place, name), { ...rules(), ...more });

it('shareFolder resolves a link of the owner to the real folder', () => {
  symlinkSync(join(place, 'in'), join(place, 'links/in'));
  expect(share('links/in').folder).toBe(join(place, 'in'));
});

it('shareFolder refuses a link in a folder that every account can write', () => {
  symlinkSync(join(place, 'in'), join(place, 'links/in'));
  chmodSync(join(place, 'links'), 0o777);
  expect(() => share('links/in')).toThrow('a link that another account can change');
});

it.runIf(process.getuid!() === 0)('shareFolder refuses a link of another account', () => {
  symlinkSync(join(place, 'in'), join(place, 'links/in'));
  lchownSync(join(place, 'links/in'), 12_345, 12_345);
  expect(() => share('links/in')).toThrow('a link that another account can change');
});

it('shareFolder refuses a link in a folder that a sandbox can write', () => {
  symlinkSync(join(place, 'in'), join(place, 'links/in'));
  expect(() => share('links/in', { open: [join(place, 'links')] })).toThrow('a sandbox may have made');
});

it('shareFolder refuses a folder that every account can replace', () => {
  chmodSync(join(place, 'links'), 0o777);
  mkdirSync(join(place, 'links/in'));
  expect(() => share('links/in')).toThrow('every account can replace');
});

it('shareFolder refuses a folder with a socket that a process is bound to', async () => {
  const server = createServer().listen(join(place, 'in/s.sock'));
  await once(server, 'listening');
  expect(() => share('in')).toThrow('is a socket of a service');
  server.close();
});

it('shareFolder refuses a folder of another account to a user, in the same way as one that does not exist', () => {
  for (const name of ['in', 'missing']) expect(() => share(name, { account: 4242 })).toThrow('is not your folder');
});

it('shareFolder refuses a folder around, inside of, or equal to that of another share', () => {
  mkdirSync(join(place, 'in/below'));
  const shares = (folder: string) => ({ shares: [{ name: 'first', folder: join(place, folder) }] });
  expect(() => share('in', shares('in'))).toThrow('is the folder of the share first');
  expect(() => share('in/below', shares('in'))).toThrow('is inside the folder of the share first');
  expect(() => share('in', shares('in/below'))).toThrow('contains the folder of the share first');
  expect(share('in', shares('other')).folder).toBe(join(place, 'in'));
});

it('openFolder opens the folder that was shared, and neither another one nor a link at its path', () => {
  const found = { name: 'inbox', ...share('in') };
  openFolder(found).close();
  renameSync(join(place, 'in'), join(place, 'old'));
  mkdirSync(join(place, 'in'));
  expect(() => openFolder(found)).toThrow('is not the folder that was shared as inbox');
  rmSync(join(place, 'in'), { recursive: true });
  symlinkSync(join(place, 'old'), join(place, 'in'));
  expect(() => openFolder(found)).toThrow('is not the folder that was shared as inbox');
});
