/** How daemons start and end: killed at any moment, several at once, older than the command, with changed settings. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openapi } from '../../src/kernel/server/openapi.ts';
import { packageVersion } from '../../src/lib/file/package.ts';
import { routes } from '../../src/noun/app.ts';
import { gather, Installation, isRunning, until } from '../harness/installation.ts';

let carrel: Installation;
beforeAll(() => {
  carrel = new Installation();
});
afterAll(() => carrel.dispose());

describe('daemons that end while they start', () => {
  let path: string;
  const log = () => join(carrel.home, 'daemon.log');

  /** The PATH with an unshare that `count` times writes the fault of another daemon and is killed, and then works. */
  function killing(count: number): { PATH: string } {
    const bin = join(path, String(count));
    mkdirSync(bin);
    writeFileSync(join(bin, 'left'), String(count));
    const other = JSON.stringify({ code: 'conflict', message: 'a daemon is running already' });
    const script = [
      '#!/bin/sh',
      `left=$(cat ${bin}/left)`,
      `echo $((left-1)) > ${bin}/left`,
      `[ "$left" -gt 0 ] || exec /usr/bin/unshare "$@"`,
      `echo 'carrel-fault: ${other}' >> ${log()}`,
      'kill -9 $$',
    ];
    writeFileSync(join(bin, 'unshare'), `${script.join('\n')}\n`);
    chmodSync(join(bin, 'unshare'), 0o755);
    return { PATH: `${bin}:${process.env.PATH}` };
  }

  beforeAll(() => {
    path = carrel.folder('path');
  });
  afterEach(() => carrel.run(['down']));

  it('are started again after a kill, and the command succeeds', async () => {
    const { exitCode, stderr, stdout } = await carrel.run(['--json', 'ls'], { env: killing(2) });
    expect([exitCode, stderr, stdout]).toEqual([0, '', '[]\n']);
  });

  it('end the command with 75 after too many kills, and without the reason of another daemon', async () => {
    const { exitCode, stderr } = await carrel.run(['ls'], { env: killing(1000) });
    expect(stderr).toContain('killed 5 times while it started');
    expect(exitCode).toBe(75);
  });

  it('write their reason to daemon.log and to the command that started them', async () => {
    writeFileSync(join(carrel.home, 'config.yaml'), 'limits: {memroy: 1g}\n');
    const { exitCode, stderr } = await carrel.run(['ls']);
    writeFileSync(join(carrel.home, 'config.yaml'), '');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('config.yaml:1:')]);
    expect(readFileSync(log(), 'utf8')).toMatch(/^carrel-fault: \{"code":"invalid".*memroy/m);
  });
});

describe('down --all after the daemon was killed', () => {
  it('starts a daemon, stops the sandboxes and names them', async () => {
    await carrel.ok('create', '--name', 'left', '--', 'sh', '-c', 'echo $$; exec sleep infinity');
    await carrel.killDaemon();
    const { exitCode, stdout } = await carrel.run(['down', '--all']);
    expect([exitCode, stdout]).toEqual([0, 'stopped left\nthe daemon has ended\n']);
    expect(isRunning(carrel.daemonPid)).toBe(false);
    expect(await carrel.ok('down', '--all')).toBe('the daemon is not running\n');
    expect(await carrel.show('left')).toMatchObject({ state: 'stopped' });
  });

  it('starts no daemon for an empty home', async () => {
    expect(await carrel.ok('--home', carrel.folder('empty'), 'down', '--all')).toBe('the daemon is not running\n');
  });
});

it('the built daemon, whose schemas are deferred, describes every route as the sources do', async () => {
  await carrel.ok('ls');
  const described = JSON.parse(JSON.stringify(openapi(packageVersion(), routes)));
  expect(await carrel.client.call('GET /openapi.json')).toEqual(described);
});

it('a Docker Engine that does not answer keeps no sandbox of the embedded engine waiting', async () => {
  const own = new Installation();
  const socket = join(own.folder('engine'), 'socket');
  const silent = createServer(() => {}).listen(socket);
  try {
    // An earlier daemon that had sandboxes on Docker leaves this folder.
    mkdirSync(join(own.home, 'engine-docker'), { recursive: true });
    own.write('home/config.yaml', `docker: {socket: ${socket}}\n`);
    const from = performance.now();
    await own.ok('up', '-d');
    await own.ok('run', '--', 'true');
    await own.ok('down');
    expect(performance.now() - from).toBeLessThan(40_000);
  } finally {
    await own.dispose();
    silent.close();
  }
});

describe('a config.yaml that is changed while the daemon runs', () => {
  const write = (text: string) => writeFileSync(join(carrel.home, 'config.yaml'), text);
  const service = 'services: {echo: {port: 17010, to: /nowhere.sock}}\n';
  const create = (name: string) => carrel.run(['create', '--name', name, '--service', 'echo', '--', 'true']);
  afterAll(() => write(''));

  it('is used by the next command', async () => {
    await carrel.ok('up', '-d');
    const pid = carrel.daemonPid;
    expect(await create('early')).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining('`services` in config.yaml'),
    });
    write(service);
    expect(await create('served')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(carrel.daemonPid).toBe(pid);
  });

  it('with a mistake is refused with file, line and hint, and sandboxes can still be stopped and removed', async () => {
    write(`${service}memory: 1g\n`);
    const { exitCode, stderr } = await create('wrong');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`${join(carrel.home, 'config.yaml')}:2:1`)]);
    expect(stderr).toContain('uses the settings it read before');
    expect(await carrel.ok('status')).toContain('those read before are used');
    await carrel.ok('rm', '--force', 'served');
  });

  it('is reported with the settings that apply at the next start', async () => {
    write(`${service}share: {socket: ${join(carrel.home, 'shared.sock')}}\n`);
    expect((await create('again')).stderr).toContain('share.socket in config.yaml: used when the daemon starts again');
    expect(await carrel.ok('status')).toContain('share.socket: used from the next start');
    expect((await carrel.run(['user', 'add', 'bob'])).stderr).toContain('is opened after: carrel down');
    await carrel.ok('down');
    expect((await carrel.run(['status'])).stdout).toBe('not running\n');
    expect(JSON.parse((await carrel.run(['--json', 'user', 'add', 'eve'])).stdout)).toMatchObject({
      socket: join(carrel.home, 'shared.sock'),
    });
    await carrel.ok('down');
  });
});

describe('a command that is newer than the daemon', () => {
  const note = () => join(carrel.home, 'daemon.json');

  /** Makes the daemon look as if the programs had been built again since it was started. */
  function age(): void {
    const content = JSON.parse(readFileSync(note(), 'utf8')) as object;
    writeFileSync(note(), JSON.stringify({ ...content, build: 'before', builtAt: '2001-01-01T00:00:00.000Z' }));
  }

  /** Runs a command at a terminal and answers its question. */
  async function atTerminal(answer: string): Promise<string> {
    const env = { ...process.env, CARREL_HOME: carrel.home, NO_COLOR: '1' };
    const child = spawn('script', ['-qec', 'bin/carrel ls', '/dev/null'], { env });
    const shown = gather(child.stdout);
    await until(() => shown().includes('[y/N]'), 'the question');
    child.stdin.write(`${answer}\n`);
    await once(child, 'exit');
    return shown();
  }

  beforeAll(async () => {
    await carrel.ok('create', '--name', 'goes-on');
  });

  it('warns, names the command that restarts the daemon, and succeeds', async () => {
    expect(await carrel.run(['ls'])).toMatchObject({ exitCode: 0, stderr: '' });
    age();
    const { exitCode, stdout, stderr } = await carrel.run(['ls']);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('goes-on')]);
    expect(stderr).toMatch(/^carrel: the daemon is older than this command: .*restart it with: carrel down\./);
    expect(await carrel.run(['--json', 'ls'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await carrel.ok('status')).toContain('older than this command');
  });

  it('asks at a terminal, and restarts the daemon while sandboxes keep running', async () => {
    age();
    const [pid, { startedAt }] = [carrel.daemonPid, await carrel.show('goes-on')];
    expect(await atTerminal('n')).toMatch(/goes-on +running/);
    expect(carrel.daemonPid).toBe(pid);
    expect(await atTerminal('y')).toMatch(/goes-on +running/);
    expect(carrel.daemonPid).not.toBe(pid);
    expect(await carrel.show('goes-on')).toMatchObject({ state: 'running', startedAt });
    expect((await carrel.run(['ls'])).stderr).toBe('');
  });
});
