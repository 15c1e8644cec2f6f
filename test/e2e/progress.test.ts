/** What a terminal shows while a copy or a backup takes its time; a pipe, JSON and stdout have none of it. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Installation, until } from '../harness/installation.ts';
import { runEnv } from '../harness/run.ts';
import { Terminal } from '../harness/terminal.ts';

const content = Buffer.alloc(3 * 1024 ** 2, 'x');
let carrel: Installation;
let work: string;

/** Waits until the test makes the file `gate` or removes the program. */
const waitsFor = (gate: string) => `while [ ! -e ${gate} ] && [ -e "$0" ]; do sleep 0.02; done`;

beforeAll(async () => {
  carrel = new Installation();
  work = carrel.folder('work');
  // Replaces the compressor of the daemon.
  const zstd = `#!/bin/sh\n[ "$1" != --version ] || exit 0\ncat\n${waitsFor(join(work, 'go'))}\n`;
  writeFileSync(join(work, 'zstd'), zstd, { mode: 0o755 });
  await carrel.process(['up', '-d'], { env: { PATH: `${work}:${process.env.PATH}` } });
});
afterAll(() => carrel.dispose());

interface Watched {
  /** The line that the terminal shows. */
  readonly line: RegExp;
  /** Lets the work finish. */
  readonly finish: () => unknown;
  /** The same work three times: with stdout in a file, with --json, and without a terminal. */
  readonly commands: readonly [readonly string[], readonly string[], readonly string[]];
}

/** Returns stdout of the first command and the document of the second. */
async function watch({ line, finish, commands }: Watched): Promise<{ stdout: string; document: unknown }> {
  const [toFile, inJson, toPipe] = commands;
  const stdout = join(work, 'stdout');
  const json = on(['--json', ...inJson], 'exec "$@"');
  const piped = carrel.process(toPipe);
  const terminal = on(toFile, `exec "$@" > ${stdout}`);
  await terminal.shows(line);
  const [turn] = terminal.shown;
  await until(() => terminal.shown[0] !== turn, 'the line to change in its place');
  expect(terminal.shown.trim()).toMatch(line);
  await finish();
  expect([await terminal.ended, terminal.shown.trim()]).toEqual([0, '']);
  expect(await piped).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await json.ended).toBe(0);
  return { stdout: readFileSync(stdout, 'utf8'), document: JSON.parse(json.text) };
}

function on(args: readonly string[], script: string): Terminal {
  const argv = [process.execPath, '--', carrel.program, ...args];
  const env = { HOME: carrel.home, CARREL_HOME: carrel.home, ...runEnv() };
  return new Terminal(['sh', '-c', script, 'sh', ...argv], { env });
}

it('cp shows how much was copied in either direction, and both fit a terminal with a long path', async () => {
  await carrel.ok('create', '--name', 'a', '-e', 'PATH=/tmp/bin:/usr/bin:/bin');
  // Replaces the archiver in the sandbox.
  const tar = `#!/bin/sh\n[ "$1" != --version ] || exit 0\n/usr/bin/tar "$@" || exit\n${waitsFor('/tmp/go')}\n`;
  const install = 'mkdir /tmp/bin; printf %s "$1" > /tmp/bin/tar; chmod +x /tmp/bin/tar';
  await carrel.ok('exec', 'a', 'sh', '-c', install, 'sh', tar);
  const folder = join(work, 'long'.repeat(20));
  mkdirSync(folder);
  writeFileSync(join(folder, 'data'), content);
  const line = /^\S copied 3\.0M of [^\n]*… \(\d+s\)\s*$/;
  const finish = () => carrel.ok('exec', 'a', 'touch', '/tmp/go');
  const into = (name: string) => ['cp', folder, `a:/tmp/${name}`];
  const pushed = await watch({ line, finish, commands: [into('one'), into('two'), into('three')] });
  expect(pushed).toEqual({ stdout: '', document: { from: folder, to: 'a:/tmp/two' } });

  await carrel.ok('exec', 'a', 'sh', '-c', `rm /tmp/go; mv /tmp/one /tmp/${'far'.repeat(30)}`);
  const out = (name: string) => ['cp', `a:/tmp/${'far'.repeat(30)}`, join(work, name)];
  const pulled = await watch({ line, finish, commands: [out('one'), out('two'), out('three')] });
  expect(pulled).toMatchObject({ stdout: '', document: { to: join(work, 'two') } });
  for (const name of ['one', 'two', 'three']) expect(readFileSync(join(work, name, 'data')).equals(content)).toBe(true);
});

it('a backup shows how much was written, a restore how much of it was read', async () => {
  const names = ['one', 'two', 'three'] as const;
  for (const name of names) {
    await carrel.ok('volume', 'create', name);
    await carrel.ok('run', '--rm', '-v', `${name}:/v`, '--', 'sh', '-c', 'yes | head -c 3145728 > /v/data');
  }
  const finish = () => writeFileSync(join(work, 'go'), '');
  const backup = (name: string) => ['volume', 'backup', name];
  const packing = /^\S packing one, 3\.\dM \(\d+s\)\s*$/;
  const packed = await watch({ line: packing, finish, commands: [backup('one'), backup('two'), backup('three')] });
  expect(packed).toEqual({
    stdout: expect.stringMatching(/^\S+-one-\S+\.tar\n$/),
    document: expect.objectContaining({ name: expect.stringMatching(/-two$/) }),
  });

  rmSync(join(work, 'go'));
  const backups = await carrel.json<{ file: string; label: string }[]>('volume', 'ls', '--backups');
  const restore = (name: string) => ['volume', 'restore', backups.find(({ label }) => label === name)!.file];
  const unpacking = /^\S unpacking one, 3\.\dM of 3\.\dM \(\d+s\)\s*$/;
  const restored = await watch({
    line: unpacking,
    finish,
    commands: [restore('one'), restore('two'), restore('three')],
  });
  expect(restored).toEqual({
    stdout: expect.stringMatching(/-one\n$/),
    document: expect.objectContaining({ volume: expect.objectContaining({ label: 'two' }) }),
  });
});
