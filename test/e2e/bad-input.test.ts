// @needs root
/** Wrong input: a clear error with the hint, the documented exit code, and nothing half-made. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { namespaceArgs } from '../../src/lib/sys/namespace.ts';
import { Installation, until } from '../harness/installation.ts';
import { createRootlessAccount } from '../harness/rootless.ts';

describe('a request', () => {
  let carrel: Installation;
  beforeAll(async () => {
    carrel = new Installation();
    await carrel.ok('create', '--name', 'there');
  });
  afterAll(() => carrel.dispose());

  it.each([
    [['run', '--name', 'Bad Name', '--', 'true'], 2, 'is not a sandbox name'],
    [['run', '--name', '../../etc', '--', 'true'], 2, 'is not a sandbox name'],
    [['run', '--name', 'a'.repeat(64), '--', 'true'], 2, 'name'],
    [['run', '--name', 'a\u001b[31m', '--', 'true'], 2, '\\u001b'],
    [['run', '--bogus', '--', 'true'], 2, '--bogus'],
    [['run'], 2, 'carrel run'],
    [['run', '--memory', '1k', '--', 'true'], 2, '--memory: 1.0K is out of range'],
    [['run', '--memory', 'lots', '--', 'true'], 2, 'is not a size'],
    [['run', '--memory', '999999t', '--', 'true'], 2, 'is more than there can be'],
    [['run', '--cpus', '0', '--', 'true'], 2, '--cpus: 0 is out of range'],
    [['run', '--cpus', 'many', '--', 'true'], 2, 'cpus'],
    [['run', '--pids', '-1', '--', 'true'], 2, 'pids'],
    [['run', '--swap', '8m', '--memory', '64m', '--', 'true'], 2, 'swap'],
    [['run', '--env', 'NO VALUE', '--', 'true'], 2, 'env'],
    [['run', '--runtime', 'nosuch', '--', 'true'], 2, 'runtime'],
    [['run', '--runtime', 'runsc', '--', 'true'], 3, 'runsc is not installed'],
    [['run', '--rootfs', '/no/such/root', '--', 'true'], 2, 'does not exist'],
    [['run', '/no/such/project', '--', 'true'], 2, 'does not exist'],
    [['run', '/', '--', 'true'], 2, 'cannot be a project'],
    [['create', '--name', 'there'], 6, 'exists already'],
    [['show', 'nosuch'], 5, 'no sandbox nosuch'],
    [['exec', 'nosuch', '--', 'true'], 5, 'no sandbox nosuch'],
    [['exec', 'there'], 2, ''],
    [['exec', '-w', 'relative', 'there', '--', 'true'], 2, '--cwd: '],
    [['logs', '--tail', 'x', 'there'], 2, 'tail'],
    [['create', '--label', `${'x'.repeat(200)}=1`], 2, 'carrel: --label: '],
    [['create', '--image', 'x'.repeat(600)], 2, 'carrel: --image: '],
    [['stop', '--grace', '100000', 'there'], 2, 'carrel: --grace: more than a day'],
    [['snapshot', 'there', 'x'.repeat(100)], 2, 'carrel: LABEL: '],
    [['apply', 'there', '--branch', 'x'.repeat(300)], 2, 'carrel: --branch: '],
    [['port', 'add', 'there', '80', '--address', 'x'.repeat(200)], 2, 'carrel: --address: '],
    [['swarm', 'run', '--all', '--max', '99'], 2, 'carrel: --max: '],
    [['swarm', 'add', 'no-id', 'name', 'a.json', 'main'], 2, 'carrel: ID: '],
    [['rm', 'there'], 6, 'rm --force'],
    [['start', 'there'], 6, 'running already'],
    [['cp', 'a', 'b'], 2, ''],
    [['nosuch'], 2, "unknown command 'nosuch'"],
    [['completion', 'tcsh'], 2, ''],
  ])('%j exits with %i', async (args, code, words) => {
    const { exitCode, stdout, stderr } = await carrel.run(args);
    expect(stderr).toContain(words);
    expect(stderr).toMatch(/^carrel: /);
    expect(stderr).not.toContain('\u001b');
    expect(exitCode).toBe(code);
    expect(stdout).toBe('');
    expect((await carrel.list()).map(({ name }) => name)).toEqual(['there']);
    expect(readdirSync(join(carrel.home, 'sandboxes'))).toHaveLength(1);
  });

  it('is refused in JSON with --json', async () => {
    const { exitCode, stdout, stderr } = await carrel.run(['--json', 'show', 'nosuch']);
    expect([exitCode, stdout]).toEqual([5, '']);
    expect(JSON.parse(stderr)).toMatchObject({ code: 'not_found', message: 'no sandbox nosuch' });
  });

  it('has a size limit', async () => {
    const { exitCode } = await carrel.run(['exec', 'there', '--', 'echo', 'x'.repeat(120_000)]);
    expect(exitCode).toBe(0);
    const many = Array.from({ length: 5000 }, () => 'x');
    expect((await carrel.run(['exec', 'there', '--', 'echo', ...many])).exitCode).toBe(2);
  });
});

describe('a home', () => {
  let carrel: Installation;
  beforeEach(() => {
    carrel = new Installation();
  });
  afterEach(() => carrel.dispose());

  it('that is read-only is refused', async () => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'carrel-test', carrel.home]);
    const { exitCode, stderr } = await carrel.run(['ls']);
    execFileSync('umount', [carrel.home]);
    expect(stderr).toContain('CARREL_HOME');
    expect(exitCode).toBe(4);
  });

  it('on a full disk is refused, and works again once there is room', async () => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=700', 'carrel-test', carrel.home]);
    await carrel.ok('ls');
    const fill = () => writeFileSync(join(carrel.home, 'fill'), Buffer.alloc(64 * 1024 * 1024));
    expect(fill).toThrow(expect.objectContaining({ code: 'ENOSPC' }));
    const { exitCode, stderr } = await carrel.run(['create', '--name', 'a']);
    expect(stderr).toMatch(/space|full/i);
    expect(exitCode).toBe(7);
    execFileSync('rm', [join(carrel.home, 'fill')]);
    await until(async () => (await carrel.list()).length === 0, 'the refused sandbox to be gone');
    await carrel.ok('down');
    execFileSync('umount', [carrel.home]);
  });

  it('with a corrupt config is refused, with the file and the place', async () => {
    for (const text of ['limits: [', 'limitz: {}', 'limits: {memory: lots}', 'runtime: docker']) {
      writeFileSync(join(carrel.home, 'config.yaml'), text);
      const { exitCode, stderr } = await carrel.run(['ls']);
      expect(stderr).toMatch(/config\.yaml|limits\.memory/);
      expect(stderr).toContain('hint: ');
      expect(exitCode).toBe(2);
    }
    writeFileSync(join(carrel.home, 'config.yaml'), 'limits: {memory: 1g}\n');
    await carrel.ok('create', '--name', 'a');
    expect(await carrel.json('show', 'a')).toMatchObject({ limits: { memoryBytes: 1024 ** 3 } });
  });

  it('with a damaged store is refused and left untouched', async () => {
    const database = join(carrel.home, 'carrel.db');
    writeFileSync(database, 'this is not a database');
    const { exitCode, stderr } = await carrel.run(['ls']);
    expect(stderr).toContain('carrel.db');
    expect(exitCode).toBe(70);
    expect(readFileSync(database, 'utf8')).toBe('this is not a database');
    carrel.removeDatabase();
  });

  it('with a stale socket gets a new daemon', async () => {
    const server = createServer().listen(join(carrel.home, 'carrel.sock'));
    await new Promise((resolve) => server.once('listening', resolve));
    server.unref();
    execFileSync('mv', [join(carrel.home, 'carrel.sock'), join(carrel.home, 'stale')]);
    await new Promise((resolve) => server.close(resolve));
    execFileSync('mv', [join(carrel.home, 'stale'), join(carrel.home, 'carrel.sock')]);
    expect(await carrel.json('ls')).toEqual([]);
    await carrel.killDaemon();
    expect(await carrel.json('ls')).toEqual([]);
  });

  it('has one daemon: a second one is refused', async () => {
    await carrel.ok('up', '-d');
    const { exitCode, stderr } = await carrel.run(['up']);
    // The running daemon may be too busy to answer, and still holds the home.
    expect(stderr).toMatch(/already running|is running for .* already/);
    expect(exitCode).toBe(6);
  });

  it('may have a path that is too long for a socket', async () => {
    const deep = join(carrel.folder('deep'), 'x'.repeat(120));
    const options = { env: { CARREL_HOME: deep } };
    expect(await carrel.run(['run', '--rm', '--', 'echo', 'works'], options)).toMatchObject({
      exitCode: 0,
      stdout: 'works\n',
    });
    expect((await carrel.run(['down', '--all'], options)).exitCode).toBe(0);
  });
});

describe('a machine', () => {
  it('without any program gets an error before there is a daemon', async () => {
    const carrel = new Installation();
    const { exitCode, stderr } = await carrel.run(['ls'], { env: { PATH: '/nowhere' } });
    expect(stderr).toMatch(/unshare is not installed\n +hint: /);
    expect(exitCode).toBe(3);
    await carrel.dispose();
  });

  it.each([
    ['conmon', 'conmon is not installed', 'conmon'],
    ['crun runc', 'no runtime: crun or runc is not installed', 'runtime'],
    ['tini-static docker-init tini catatonit', 'no init for sandboxes is installed', 'init'],
  ])('without %s gets an error, from the doctor too, and nothing is made', async (programs, message, row) => {
    const wrap = (argv: readonly string[]) => [
      'unshare',
      '--mount',
      '--',
      'test/fixtures/without-programs',
      programs,
      ...argv,
    ];
    const carrel = new Installation({ wrap, prepareHome: () => {} });
    const { exitCode, stderr } = await carrel.run(['run', '--', 'true']);
    expect(stderr).toContain(message);
    expect(stderr).toContain('hint: ');
    expect(exitCode).toBe(3);
    expect(await carrel.json('ls')).toEqual([]);
    const doctor = await carrel.run(['--json', 'doctor']);
    expect(doctor.exitCode).toBe(3);
    const rows = JSON.parse(doctor.stdout) as { name: string; level: string }[];
    expect(rows.filter(({ level }) => level === 'failure').map(({ name }) => name)).toContainEqual(
      expect.stringContaining(row),
    );
    await carrel.dispose();
  });
});

describe('a kernel that makes no user namespaces', () => {
  it('is named as the reason, and nothing is made', async () => {
    const account = createRootlessAccount();
    const inside = ['test/fixtures/without-namespaces'];
    const carrel = new Installation({
      ...account,
      wrap: (argv) => account.wrap([...namespaceArgs(1), ...inside, ...argv]),
    });
    const { exitCode, stderr } = await carrel.run(['run', '--', 'true']);
    expect(stderr).toContain('user.max_');
    expect(exitCode).toBe(3);
    expect(await carrel.json('ls')).toEqual([]);
    await carrel.dispose();
    account.dispose();
  });
});

describe('an account without subordinate ids', () => {
  it('gets an error that names what it lacks', async () => {
    const account = createRootlessAccount(0);
    const carrel = new Installation(account);
    const { exitCode, stderr } = await carrel.run(['ls']);
    expect(stderr).toContain('usermod --add-subuids');
    expect(exitCode).toBe(3);
    carrel.forget();
    account.dispose();
  });
});
