// @needs root
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { proveBank } from '../harness/bank.ts';
import { Installation } from '../harness/installation.ts';
import { Project } from '../harness/project.ts';
import { createRootlessAccount, type RootlessAccount } from '../harness/rootless.ts';
import { processesMentioning } from '../harness/traces.ts';

describe('carrel without root', () => {
  let account: RootlessAccount;
  let carrel: Installation;

  beforeAll(() => {
    account = createRootlessAccount();
    carrel = new Installation(account);
  });
  afterAll(async () => {
    await carrel.dispose();
    account.dispose();
  });

  it('runs a command as agent, on subordinate ids', async () => {
    const { exitCode, stdout, stderr } = await carrel.run(['run', '--', 'sh', '-c', 'id -u; cat /proc/self/uid_map']);
    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^1000\n\s+0\s+1\s+4096\n$/);
  });

  it('walks the first steps of the README, and says once which limits it cannot enforce', async () => {
    const first = await carrel.run(['run', '--', 'sh', '-c', 'id; exit 3']);
    expect(first).toMatchObject({ exitCode: 3, stdout: 'uid=1000(agent) gid=1000(agent) groups=1000(agent)\n' });
    const desk = await carrel.run(['create', '--name', 'desk', '--memory', '512m', '--cpus', '1']);
    expect(desk).toMatchObject({ exitCode: 0, stdout: 'desk\n' });
    expect(desk.stderr).toMatch(/^carrel: --cpus, --memory cannot be enforced here: [^\n]*\n$/);
    expect(await carrel.ok('exec', 'desk', '--', 'sh', '-c', 'echo kept > ~/note; ls -A ~')).toBe('note\n');
    expect(await carrel.ok('ls')).toMatch(/^desk +running/m);
    await carrel.ok('rm', '--force', 'desk');
  });

  it('refuses a limit that it cannot enforce with --strict, and makes nothing', async () => {
    const asked = ['--strict', '--memory', '64m', '--disk', '32m', '--pids', '64'];
    const { exitCode, stderr } = await carrel.run(['run', '--name', 'none', ...asked, '--', 'true']);
    expect(stderr).toContain('cannot enforce --memory, --disk\n');
    expect(exitCode).toBe(3);
    expect((await carrel.list()).map(({ name }) => name)).not.toContain('none');
    await carrel.ok('run', '--rm', '--strict', '--pids', '64', '--', 'true');
  });

  it('works on a bound folder with files of the person who runs it', async () => {
    const project = carrel.folder('project');
    await carrel.ok('run', '--mode', 'bind', project, '--', 'sh', '-c', 'id -u > who; stat -c %u who >> who');
    expect(readFileSync(join(project, 'who'), 'utf8')).toBe('1000\n1000\n');
    expect(statSync(join(project, 'who')).uid).toBe(statSync(project).uid);
  });

  it('changes the home of all sandboxes by home shell', async () => {
    await carrel.ok('home', 'shell', '--', 'sh', '-c', 'echo shared > ~/note; stat -c %u ~/note');
    expect(await carrel.ok('run', '--rm', '--', 'sh', '-c', 'cat ~/note; rm ~/note')).toBe('shared\n');
    expect(await carrel.ok('home', 'shell', '--', 'sh', '-c', 'cat ~/note; rm ~/note')).toBe('shared\n');
  });

  it('has the memory bank, with its tools and agents that find them configured', () => proveBank(carrel));

  it('brings a declared fleet up', async () => {
    const { path: cwd } = new Project(carrel.folder('fleet'), { 'go.mod': '' });
    expect((await carrel.run(['init'], { cwd })).exitCode).toBe(0);
    expect((await carrel.run(['up'], { cwd })).stdout).toBe('created fleet\n');
    expect((await carrel.run(['up'], { cwd })).stderr).toContain('nothing to do');
    writeFileSync(join(cwd, 'carrel.yaml'), 'name: fleet\n');
    expect((await carrel.run(['up', '--yes'], { cwd })).stdout).toBe('removed fleet\n');
  });

  it('reaches sandboxes of an earlier daemon, however that daemon ended', async () => {
    await carrel.ok('create', '--name', 'box');
    for (const leave of [() => carrel.killDaemon(), () => carrel.ok('down')]) {
      await leave();
      expect(await carrel.ok('exec', 'box', '--', 'echo', 'still here')).toBe('still here\n');
    }
    await carrel.killDaemon();
    await carrel.ok('stop', '--grace', '0', 'box');
    await carrel.killDaemon();
    await carrel.ok('start', 'box');
    await carrel.killDaemon();
    await carrel.ok('rm', '--force', 'box');
  });

  it('reaches sandboxes of an earlier daemon even if their keepers are gone', async () => {
    await carrel.clear();
    await carrel.ok('create', '--name', 'alone', '--network', 'example.com', '--', 'sleep', 'infinity');
    await carrel.ok('create', '--name', 'other');
    const keepers = processesMentioning(carrel.home, 'conmon');
    expect(keepers).toHaveLength(2);
    for (const pid of keepers) process.kill(pid, 'SIGKILL');
    await carrel.killDaemon();
    expect((await carrel.list()).map(({ name, state, reason }) => [name, state, reason])).toEqual([
      ['alone', 'running', 'keeper lost'],
      ['other', 'running', 'keeper lost'],
    ]);
    expect(await carrel.ok('exec', 'alone', '--', 'echo', 'still here')).toBe('still here\n');
    await carrel.ok('run', '--rm', '--network', 'example.com', '--', 'true');
    await carrel.ok('stop', '--grace', '0', 'alone');
    await carrel.ok('rm', '--force', 'alone');
    await carrel.ok('down', '--all');
    expect(processesMentioning(carrel.home, 'conmon')).toEqual([]);
    expect((await carrel.show('other')).state).toBe('stopped');
    await carrel.ok('rm', 'other');
  });
});
