/** A declared fleet on a Docker Engine: by the owner, and by a user with a token. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Dockerd, image } from '../harness/dockerd.ts';
import { gather, Installation, type Outcome, until } from '../harness/installation.ts';

let dockerd: Dockerd;
let carrel: Installation;
let socket: string;

beforeAll(async () => {
  dockerd = await Dockerd.open();
  carrel = new Installation();
  socket = join(carrel.folder('shared'), 'carrel.sock');
  const images = `docker: {socket: ${dockerd.socketPath}}\nimages: [${image}, gone]\n`;
  writeFileSync(join(carrel.home, 'config.yaml'), `${images}share: {socket: ${socket}}\n`);
}, 60_000);
afterAll(async () => {
  await carrel.dispose();
  await dockerd.dispose();
}, 60_000);

const steps = (all: { act: string; name: string }[]) => all.map(({ act, name }) => `${act} ${name}`);

describe('the owner', () => {
  let folder: string;
  beforeAll(() => {
    folder = carrel.folder('fleet');
    mkdirSync(join(folder, 'app'));
    writeFileSync(join(folder, 'app/file'), 'kept\n');
  });

  const here = (...args: string[]) => carrel.run(args, { cwd: folder });
  const put = (sandboxes: string) =>
    writeFileSync(
      join(folder, 'carrel.yaml'),
      `name: shop\nengine: docker\nimage: ${image}\nprojects: {app: app}\nvolumes: [session]\nsecrets: [KEY]\n` +
        `sandboxes:\n${sandboxes}`,
    );
  const app = (limits: string) =>
    `  app: {project: app, secrets: [KEY], volumes: ["session:/s"], limits: {${limits}}}\n`;

  it('brings a fleet up, changes it, and removes what is no longer declared', async () => {
    await carrel.run(['secret', 'set', 'KEY'], { input: 'value' });
    put(`${app('pids: 99')}  other: {command: [sleep, "600"]}\n`);
    await here('trust');
    const { exitCode, stdout } = await here('up');
    expect([exitCode, stdout]).toEqual([0, 'made volume session\ncreated app\ncreated other\n']);
    const read = await carrel.ok('exec', 'app', '--', 'sh', '-c', 'cat file /run/secrets/KEY; touch /s/x; id -un');
    expect(read).toBe('kept\nvalueagent\n');
    expect(await carrel.show('app')).toMatchObject({ engine: 'docker', image: { name: image }, limits: { pids: 99 } });
    expect((await dockerd.docker('ps', '--quiet')).split('\n')).toHaveLength(2);
    expect((await here('up')).stderr).toBe('fleet shop: nothing to do, 2 sandboxes are as declared\n');
    put(app('pids: 98'));
    const refused = await here('up');
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('remove other and replace app')]);
    expect((await here('up', '--yes')).stdout).toBe('replaced app\nremoved other\n');
    expect(await carrel.ok('exec', 'app', '--', 'ls', '/s')).toBe('x\n');
    put('  {}\n');
    expect((await here('up', '--yes')).stdout).toBe('removed app\n');
    expect(await dockerd.docker('ps', '--all', '--quiet')).toBe('');
  });

  it('is refused for an image that the engine does not have, before anything is done', async () => {
    put('  a: {}\n  b: {image: gone}\n  c: {}\n');
    const { exitCode, stdout, stderr } = await here('up');
    expect([exitCode, stdout]).toEqual([5, '']);
    expect(stderr).toMatch(/carrel.yaml:\d+:\d+: sandboxes.b: the engine has no image gone\n.*docker pull gone/);
    expect(await carrel.list()).toEqual([]);
  });

  it('an interrupted up reports done and remaining steps, and the next up finishes them', async () => {
    const stubborn = '  a: {engine: local, command: [sh, -c, "trap : TERM; while :; do sleep 1; done"]';
    put(`${stubborn}}\n`);
    expect((await here('up')).exitCode).toBe(0);
    put(`  b: {}\n${stubborn}, limits: {pids: 99}}\n`);
    const up = carrel.spawn(['--json', 'up', '--yes'], {}, folder);
    const shown = gather(up.stdout!);
    const ended = once(up, 'close');
    const unfinished = () => readFileSync(join(carrel.home, 'audit/unfinished'), 'utf8');
    await until(() => /sandbox.stop.*"a"/.test(unfinished()), 'the second step');
    up.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    const { done, left } = JSON.parse(shown());
    expect([steps(done), steps(left)]).toEqual([['create b'], ['replace a']]);
    await carrel.ok('stop', '--grace', '0', 'a');
    expect((await here('up', '--yes')).exitCode).toBe(0);
    expect((await here('up')).stderr).toContain('nothing to do, 2 sandboxes');
    await carrel.ok('rm', '--force', 'a', 'b');
  });
});

describe('a user with a token', () => {
  const account = 54_321;
  let folder: string;

  beforeAll(async () => {
    folder = carrel.folder('bob');
    mkdirSync(join(folder, 'app'));
    writeFileSync(join(folder, 'app/file'), 'of bob\n', { mode: 0o600 });
    const token = (await carrel.ok('user', 'add', 'bob', '--uid', String(account))).trim();
    writeFileSync(join(folder, 'token'), `${token}\n`, { mode: 0o600 });
    const text = `name: shop\nprojects: {app: app}\nvolumes: [session]\nsecrets: [KEY]\nsandboxes:\n`;
    const common = 'project: app, secrets: [KEY], volumes: ["session:/s"]';
    const both = `  here: {${common}}\n  there: {${common}, engine: docker, image: ${image}}\n`;
    writeFileSync(join(folder, 'carrel.yaml'), text + both);
    for (const path of ['', 'app', 'app/file', 'token', 'carrel.yaml']) chownSync(join(folder, path), account, account);
  });

  /** Runs the CLI as the account itself, which has no access but the token. */
  function bob(args: readonly string[], input = ''): Promise<Outcome> {
    const drop = [`--reuid=${account}`, `--regid=${account}`, '--clear-groups', '--'];
    const argv = [...drop, process.execPath, resolve('bin/carrel'), ...args];
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      CARREL_SOCKET: socket,
      CARREL_TOKEN_FILE: join(folder, 'token'),
    };
    return new Promise((done) => {
      const child = execFile('setpriv', argv, { cwd: folder, env }, (error, stdout, stderr) =>
        done({ exitCode: Number(error?.code ?? 0), stdout, stderr }),
      );
      child.stdin!.end(input);
    });
  }

  it('brings up a fleet on both engines, which only they and the owner see', async () => {
    const without = await bob(['up']);
    expect([without.exitCode, without.stderr]).toEqual([5, expect.stringContaining('the secret KEY is not set')]);
    await bob(['secret', 'set', 'KEY'], 'of bob');
    await bob(['trust']);
    const { exitCode, stdout } = await bob(['up']);
    expect([exitCode, stdout]).toEqual([0, 'made volume session\ncreated here\ncreated there\n']);
    for (const name of ['here', 'there']) {
      const read = await bob(['exec', name, '--', 'sh', '-c', 'cat file /run/secrets/KEY; touch /s/$0; echo', name]);
      expect([name, read.stdout]).toEqual([name, 'of bob\nof bob\n']);
    }
    expect((await bob(['exec', 'here', '--', 'ls', '/s'])).stdout).toBe('here\nthere\n');
    expect((await bob(['up'])).stderr).toContain('nothing to do, 2 sandboxes');
    expect(await carrel.list()).toEqual([]);
    const all = await carrel.json<{ user: string; name: string }[]>('ls', '--all-users');
    expect(all.map(({ user, name }) => `${user} ${name}`)).toEqual(['bob here', 'bob there']);
    await carrel.ok('--user', 'bob', 'rm', '--force', 'here', 'there');
  });
});
