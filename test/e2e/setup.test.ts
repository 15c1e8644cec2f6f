/** `./setup --link` as an ordinary user, in a folder without sources, so that nothing is installed or built. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, lstatSync, mkdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Installation } from '../harness/installation.ts';
import { createRootlessAccount, type RootlessAccount } from '../harness/rootless.ts';
import { Terminal } from '../harness/terminal.ts';

let account: RootlessAccount;
let carrel: Installation;
let checkout: string;
let link: string;

beforeAll(() => {
  account = createRootlessAccount();
  carrel = new Installation(account);
  checkout = carrel.folder('checkout');
  link = join(carrel.home, '.local/bin/carrel');
  copyFileSync('setup', join(checkout, 'setup'));
  symlinkSync(resolve('bin'), join(checkout, 'bin'));
});
afterAll(() => {
  carrel.forget();
  account.dispose();
});

function ran(argv: readonly string[], path = process.env.PATH!) {
  const [file, ...args] = account.wrap(argv);
  const env = { HOME: carrel.home, PATH: path };
  return spawnSync(file!, args, { env, encoding: 'utf8' });
}

const setup = (...args: string[]) => ran([join(checkout, 'setup'), ...args]);

it('./setup --link makes a link to carrel in ~/.local/bin, and says if that is not on the PATH', () => {
  const { status, stdout, stderr } = setup('--link');
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toContain(`link: ${link} → ${join(checkout, 'bin/carrel')}\n`);
  expect(stdout).toContain('is not on your PATH yet');
  const path = `${join(carrel.home, '.local/bin')}:${process.env.PATH}`;
  expect(ran(['carrel', '--version'], path)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\./) });
  expect(ran([join(checkout, 'setup'), '--link'], path).stdout).toContain(`link: ${link} is there\nsetup: ready`);
});

it('./setup --link replaces a link to another checkout and names it, but does not replace a file', () => {
  rmSync(link);
  symlinkSync('/elsewhere/bin/carrel', link);
  expect(setup('--link').stdout).toContain('(it pointed to /elsewhere/bin/carrel)');
  expect(readlinkSync(link)).toBe(join(checkout, 'bin/carrel'));
  rmSync(link);
  writeFileSync(link, 'mine');
  expect(setup('--link')).toMatchObject({ status: 6, stderr: expect.stringContaining('is not a link') });
  expect(lstatSync(link).isFile()).toBe(true);
});

it('./setup refuses an unknown argument', () => {
  expect(setup('--lnik')).toMatchObject({ status: 2, stderr: expect.stringContaining('usage: ./setup [--link]') });
});

it('./setup shows on a terminal which step runs, and why a step failed', async () => {
  const sources = carrel.folder('sources');
  copyFileSync('setup', join(sources, 'setup'));
  mkdirSync(join(sources, 'src'));
  mkdirSync(join(sources, 'bin'));
  writeFileSync(join(sources, 'package-lock.json'), '{}');
  const waits = 'until [ -e "$0.seen" ]; do sleep 0.02; done';
  const npm = `#!/bin/sh\necho adding 500 packages; ${waits}; echo no network; exit 1\n`;
  writeFileSync(join(sources, 'bin/npm'), npm, { mode: 0o755 });
  const env = { PATH: `${join(sources, 'bin')}:${process.env.PATH}` };
  const terminal = new Terminal([join(sources, 'setup')], { env });
  await terminal.has(/\r\u001b\[K {2}\d+ s {2}adding 500 packages/);
  writeFileSync(join(sources, 'bin/npm.seen'), '');
  expect(await terminal.ended).toBe(1);
  expect(terminal.text).toContain('| no network');
});
