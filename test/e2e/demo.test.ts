/** The first command of the README. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Installation } from '../harness/installation.ts';
import { fences } from '../shown-commands.ts';

let carrel: Installation;

beforeAll(() => {
  carrel = new Installation();
});
afterAll(() => carrel.dispose());

/** The checkout has no sources, so that setup installs and builds nothing. */
it('the command of the README shows three agents at work, their commits, the merge and the tests', async () => {
  const checkout = carrel.folder('checkout');
  copyFileSync('setup', join(checkout, 'setup'));
  symlinkSync(resolve('bin'), join(checkout, 'bin'));
  const [first] = fences(readFileSync('README.md', 'utf8')).filter(({ language }) => language === 'sh');
  const { exitCode, stdout, stderr } = await carrel.shell(first!.text, checkout);
  expect([exitCode, stderr]).toEqual([0, '']);
  const folder = /^A sample project .*: (\/\S+)$/m.exec(stdout)![1]!;
  for (const said of [
    /^words US-003 completed$/m,
    /^[0-9a-f]{7} feat: Tell of words and lines \(US-003\)$/m,
    /^\+ {2}const characters = .*Segmenter/m,
    /^ 9 files changed/m,
    /^✔ characters are what people see/m,
    /^ {2}carrel claude \.$[\s\S]*^ {2}carrel swarm clean; rm -r /m,
  ])
    expect(stdout).toMatch(said);
  expect(stdout).not.toMatch(/^✖/m);
  expect(readFileSync(join(folder, 'src/tally.js'), 'utf8')).toMatch(
    /Segmenter.*\n\n.*\n {2}return \{ characters, words/,
  );
  const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim();
  expect(git('rev-list', '--count', '--no-merges', 'HEAD')).toBe('8');
  expect(git('status', '--porcelain')).toBe('');
  // swarm clean works after the folder was removed, too.
  rmSync(folder, { recursive: true });
  expect(JSON.parse(await carrel.ok('swarm', 'clean', '--project', folder))).toEqual({ removed: 3 });
  expect(await carrel.json('ls')).toEqual([]);
});

it('the demo does not touch a folder that is not empty', async () => {
  const folder = carrel.folder('mine');
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'src/tally.js'), 'mine');
  expect(await carrel.run(['demo', folder])).toEqual({
    exitCode: 6,
    stdout: '',
    stderr: expect.stringContaining('there is something in'),
  });
  expect(readFileSync(join(folder, 'src/tally.js'), 'utf8')).toBe('mine');
});
