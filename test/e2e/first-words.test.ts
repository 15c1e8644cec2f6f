/** Typical mistakes of a new user get errors of Carrel itself, and paths follow the rules of git. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Installation } from '../harness/installation.ts';
import { agent, Project } from '../harness/project.ts';
import { runEnv } from '../harness/run.ts';
import { carrelOn } from '../harness/terminal.ts';

let carrel: Installation;
let project: Project;

beforeAll(async () => {
  carrel = new Installation();
  project = new Project(carrel.folder('project'), { top: 'a\n', 'sub/one': 'a\n', 'sub/two': 'a\n' });
  await carrel.ok('create', '--name', 'ada', project.path);
  await agent(carrel, 'ada', 'for f in top sub/one sub/two; do echo b >> $f; done');
});
afterAll(() => carrel.dispose());

it('an invalid volume is refused without showing a regular expression', async () => {
  const { exitCode, stderr } = await carrel.run(['create', '--volume', '/tmp:/x']);
  expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/^carrel: .*not a volume/)]);
  expect(stderr).not.toMatch(/\^|\\|\[a-z/);
});

it('a missing file of variables is reported by carrel, not by node', async () => {
  const env = { ...process.env, CARREL_HOME: carrel.home };
  const stderr = await new Promise<string>((settle) => {
    execFile(resolve('bin/carrel'), ['run', '--env-file', 'x', '--', 'true'], { env }, (_, __, said) => settle(said));
  });
  expect(stderr).toMatch(/^carrel: /);
  expect(stderr).not.toContain('node:');
});

it('a Node.js other than the one of ./setup is refused, with the command that helps', async () => {
  const other = new Installation();
  const ofClients = resolve(`test/clients/node_modules/node-linux-${process.arch}/bin/node`);
  const node = process.env.CARREL_TEST_OTHER_NODE ?? ofClients;
  const env = { PATH: process.env.PATH, HOME: other.home, CARREL_HOME: other.home, ...runEnv() };
  const [code, stderr] = await new Promise<[unknown, string]>((settle) => {
    execFile(node, [resolve('bin/carrel'), 'ls'], { env }, (error, _, said) => settle([error?.code, said]));
  });
  other.forget();
  expect([code, stderr]).toEqual([
    3,
    expect.stringMatching(/^carrel: better-sqlite3 was built for another Node\.js.*\n {2}hint: Run \.\/setup .*\n$/),
  ]);
});

it('secret set turns off the echo of the terminal before it asks for the value', async () => {
  // Carrel calls stty when the echo is off.
  const bin = carrel.folder('bin');
  writeFileSync(join(bin, 'stty'), '#!/bin/sh\nprintf "(unseen)" >&0\n', { mode: 0o755 });
  const terminal = carrelOn(carrel.home, ['secret', 'set', 'KEY'], { env: { PATH: `${bin}:${process.env.PATH}` } });
  await terminal.has(/Value of KEY, not shown: /);
  terminal.type('value\r');
  expect([await terminal.ended, terminal.text]).toEqual([0, '(unseen)Value of KEY, not shown: \r\nKEY\r\n']);
});

it('paths of diff, apply, discard and patch start at the current folder', async () => {
  const cwd = join(project.path, 'sub');
  const diff = await carrel.run(['diff', 'ada', '--name-status', 'one'], { cwd });
  expect(diff.stdout).toMatch(/^M\s+sub\/one\n$/);
  expect((await carrel.run(['diff', 'ada', '--name-status', '..'], { cwd })).stdout).toContain('top');
  expect((await carrel.run(['patch', 'ada', 'one'], { cwd })).stdout).toContain('sub/one');
  expect((await carrel.run(['apply', 'ada', 'one'], { cwd })).exitCode).toBe(0);
  expect([project.read('sub/one'), project.read('sub/two')]).toEqual(['a\nb\n', 'a\n']);
  await carrel.ok('stop', '--grace', '0', 'ada');
  expect((await carrel.run(['discard', 'ada', 'two'], { cwd })).exitCode).toBe(0);
  expect((await carrel.run(['diff', 'ada', '--name-status'], { cwd })).stdout).toMatch(/^M\s+top\n$/);
});

it('a shell for a sandbox without one is refused with a command that works', async () => {
  const rootfs = carrel.folder('rootfs');
  mkdirSync(join(rootfs, 'bin'));
  copyFileSync('/bin/busybox', join(rootfs, 'bin/sleep'));
  await carrel.ok('create', '--name', 'bare', '--rootfs', rootfs, '--', '/bin/sleep', '600');
  const { exitCode, stderr } = await carrel.run(['shell', 'bare']);
  expect([exitCode, stderr]).toEqual([expect.any(Number), expect.stringContaining('has no shell')]);
  expect(stderr).toContain('carrel exec -it bare -- ');
});
