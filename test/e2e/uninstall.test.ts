/** The section "Uninstall" of docs/troubleshooting.md, typed into a terminal. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { installationOf } from '../../src/kernel/home/home.ts';
import { Installation } from '../harness/installation.ts';
import { noteInstallation, runEnv } from '../harness/run.ts';
import { Terminal } from '../harness/terminal.ts';
import { daemonsOf } from '../harness/traces.ts';
import { fences } from '../shown-commands.ts';

const carrel = new Installation();
afterAll(() => carrel.dispose());

it('the documented commands uninstall Carrel: applied files are kept, and no process and no home is left', async () => {
  const section = /^## Uninstall\n.*?^## /ms.exec(readFileSync('docs/troubleshooting.md', 'utf8'))![0];
  const lines = fences(section)[0]!.text.trim().split('\n');
  // Commands of npm and Docker are left out: they need other programs.
  const typed = lines.filter((line) => !/^npm |^carrel image /.test(line)).map((line) => line.replace(/ +#.*/, ''));
  expect(typed.length).toBeGreaterThan(4);

  const project = carrel.folder('project');
  const home = join(carrel.home, '.carrel');
  noteInstallation(installationOf(home));
  const PATH = [dirname(carrel.program), dirname(process.execPath), '/usr/bin', '/bin'].join(':');
  const env = { HOME: carrel.home, PATH, PS1: 'you> ', ...runEnv() };
  const shell = new Terminal(['/bin/sh', '-i'], { cwd: project, env });
  let count = 0;
  const enter = async (command: string) => {
    count += 1;
    shell.type(`clear; ${command}; echo did ${count}\r`);
    if (/--all/.test(command)) {
      await shell.shows(/\[y\/N\]/);
      shell.type('y\r');
    }
    await shell.shows(new RegExp(`^did ${count}\\s+you>\\s*$`, 'm'));
    return shell.shown;
  };
  try {
    await shell.shows(/^you>\s*$/);
    // The folders that the page removes are below the home of the test.
    expect(await enter('echo ~/.carrel')).toContain(`${home}\n`);
    await enter('carrel volume create cache');
    await enter("carrel run --name ada . -- sh -c 'echo made > made.txt'");
    await enter('carrel create --name bob');
    expect(await enter('carrel ls -q')).toMatch(/^ada\s+bob$|^bob\s+ada$/m);
    expect(existsSync(home)).toBe(true);
    for (const line of typed) expect(await enter(line)).not.toMatch(/^carrel: /m);
  } finally {
    shell.kill();
  }
  expect(carrel.read('project/made.txt')).toBe('made\n');
  expect([existsSync(home), daemonsOf(home)]).toEqual([false, []]);
});
