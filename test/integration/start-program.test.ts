/** Programs that are started without a fork of this process, or by Node if that is impossible. */
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startProgram } from '../../src/lib/process/start-program.ts';
import { isRealRoot } from '../harness/machine.ts';

let cwd: string;
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'carrel-program-')));
});
afterEach(() => rmSync(cwd, { recursive: true }));

const env = { PATH: '/usr/bin:/bin', GREETING: 'hello', NONE: undefined };

/** What a shell prints, with its exit code. The numbers of its descriptors are those of `stdio`. */
async function shell(script: string): Promise<{ readonly exitCode: number; readonly lines: string[] }> {
  const output = join(cwd, 'output');
  const fd = openSync(output, 'w');
  try {
    const exitCode = await startProgram('/bin/sh', ['-c', script], { stdio: [null, fd, null], env, cwd }).exited;
    return { exitCode, lines: readFileSync(output, 'utf8').trimEnd().split('\n') };
  } finally {
    closeSync(fd);
  }
}

it('a program gets its arguments, environment, folder and descriptors, and no others', async () => {
  const held = openSync('/dev/null', 'r');
  try {
    const script = `pwd; env | grep -E 'GREETING|NONE'; readlink /proc/$$/fd/0; [ -e /proc/$$/fd/${held} ] || echo none`;
    expect((await shell(script)).lines).toEqual([cwd, 'GREETING=hello', '/dev/null', 'none']);
  } finally {
    closeSync(held);
  }
});

it('a program ignores and blocks no signal', async () => {
  const { lines } = await shell('exec grep -E "^Sig(Ign|Blk)" /proc/self/status');
  expect(lines).toEqual(['SigBlk:\t0000000000000000', 'SigIgn:\t0000000000000000']);
});

it('a program that ended has an exit code, or 128 and the number of the signal', async () => {
  expect((await shell('exit 7')).exitCode).toBe(7);
  expect((await shell('kill -TERM $$')).exitCode).toBe(143);
});

it('programs that end at the same time are all collected', async () => {
  const options = { stdio: [null, null, null], env, cwd };
  const programs = Array.from({ length: 50 }, () => startProgram('/bin/true', [], options));
  expect(await Promise.all(programs.map(({ exited }) => exited))).toEqual(programs.map(() => 0));
  expect(programs.every(({ hasEnded }) => hasEnded())).toBe(true);
});

it('a program can be killed, and gets no signal once its end was collected', async () => {
  const program = startProgram('/bin/sleep', ['1000'], { stdio: [null, null, null], env, cwd });
  expect(program.hasEnded()).toBe(false);
  program.kill('SIGKILL');
  expect(await program.exited).toBe(137);
  program.kill('SIGKILL');
});

it('a program that does not exist is reported, and leaves no descriptor open', async () => {
  const before = readdirSync('/proc/self/fd').length;
  const program = startProgram('/none/program', [], { stdio: [null, null, null], env, cwd });
  await expect(program.exited).rejects.toMatchObject({ code: 'unsupported', message: 'program is not installed' });
  expect(program.hasEnded()).toBe(true);
  expect(readdirSync('/proc/self/fd').length).toBe(before);
});

it.skipIf(!isRealRoot)('a program has no supplementary groups, even where this process has some', async () => {
  const before = process.getgroups!();
  try {
    for (const groups of [[], [54_321]]) {
      process.setgroups!(groups);
      expect((await shell('grep Groups: /proc/self/status')).lines).toEqual(['Groups:']);
    }
  } finally {
    process.setgroups!(before);
  }
});
