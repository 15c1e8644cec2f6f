// @needs root
// @takes 55 s
/** Several people on one machine: tokens, ranges of ids, secrets and volumes of their own. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { userHash } from '../../src/noun/volume/model.ts';
import { Canary } from '../harness/canary.ts';
import { Dockerd } from '../harness/dockerd.ts';
import { Installation, type Outcome, until } from '../harness/installation.ts';

const engines = ['local', 'docker'] as const;

describe('another user', () => {
  let carrel: Installation;
  let asBob: (args: readonly string[], input?: string) => Promise<Outcome>;
  let project: string;
  let tokenFile: string;

  beforeAll(async () => {
    carrel = new Installation();
    const socket = join(carrel.folder('shared'), 'carrel.sock');
    writeFileSync(join(carrel.home, 'config.yaml'), `share: {socket: ${socket}}\n`);
    project = carrel.folder('project');
    writeFileSync(join(project, 'file'), 'of ann\n');
    const token = (await carrel.ok('user', 'add', 'bob')).trim();
    tokenFile = join(carrel.folder('bob'), 'token');
    writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 });
    const env = { CARREL_SOCKET: socket, CARREL_TOKEN_FILE: tokenFile };
    asBob = (args, input = '') => carrel.run(args, { env, input });
    await carrel.ok('create', '--name', 'box', project);
    await carrel.run(['secret', 'set', 'KEY'], { input: 'of ann' });
  });
  afterAll(() => carrel.dispose());

  it('authenticates with a token, reaches no sandbox of the owner, and can use the same names', async () => {
    expect(JSON.parse((await asBob(['--json', 'ls'])).stdout)).toEqual([]);
    for (const args of [
      ['show', 'box'],
      ['exec', 'box', '--', 'true'],
      ['attach', 'box'],
      ['logs', 'box'],
      ['stop', 'box'],
      ['start', 'box'],
      ['rm', '--force', 'box'],
      ['diff', 'box'],
      ['apply', 'box'],
      ['undo', 'box'],
      ['discard', 'box', '--yes'],
      ['snapshot', 'box'],
      ['snapshots', 'box'],
      ['snapshots', 'box', '--rm', '0001'],
      ['restore', 'box', '0001'],
      ['fork', 'box'],
      ['patch', 'box'],
      ['secret', 'rm', 'KEY'],
      ['cp', 'box:/etc/hostname', '/dev/null'],
    ])
      expect([args, (await asBob(args)).exitCode]).toEqual([args, 5]);
    for (const args of [
      ['doctor'],
      ['down'],
      ['user', 'add', 'eve'],
      ['ls', '--all-users'],
      ['volume', 'ls', '--backups', '--all-users'],
      ['volume', 'init', '--plugins', project],
      ['run', project, '--', 'true'],
    ])
      expect([args, (await asBob(args)).exitCode]).toEqual([args, 4]);
    expect((await asBob(['secret', 'ls'])).stdout).not.toContain('KEY');
    expect((await asBob(['create', '--name', 'box'])).exitCode).toBe(0);
    expect((await asBob(['exec', 'box', '--', 'ls', '/workspace'])).exitCode).not.toBe(0);
    expect(await carrel.ok('exec', 'box', '--', 'cat', 'file')).toBe('of ann\n');
    const all = await carrel.json<{ user: string; name: string }[]>('ls', '--all-users');
    expect(all.map(({ user }) => user)).toHaveLength(2);
    await carrel.ok('--user', 'bob', 'rm', '--force', 'box');
    expect((await carrel.show('box')).state).toBe('running');
  });

  it('has a separate range of host ids, which can read no file of the home', async () => {
    await asBob(['create', '--name', 'own']);
    const idOf = async (ask: (args: string[]) => Promise<Outcome>, name: string) => {
      const map = (await ask(['exec', name, '--', 'cat', '/proc/self/uid_map'])).stdout.trim().split(/\s+/).map(Number);
      return { from: map[1]!, to: map[1]! + map[2]! };
    };
    const [ann, bob] = [await idOf((args) => carrel.run(args), 'box'), await idOf(asBob, 'own')];
    expect(ann.to <= bob.from || bob.to <= ann.from).toBe(true);
    // A process that got out of bob's sandbox as its root would have these ids on the host.
    const escaped = (path: string) =>
      execFileSync('setpriv', [`--reuid=${bob.from}`, `--regid=${bob.from}`, '--clear-groups', '--', 'cat', path]);
    for (const path of ['carrel.db', 'users', 'volumes'])
      expect(() => escaped(join(carrel.home, path))).toThrow(/Permission denied/);
    await asBob(['rm', '--force', 'own']);
  });

  it('keeps sandboxes when a new token replaces the old one', async () => {
    await asBob(['create', '--name', 'mine']);
    const token = await carrel.ok('user', 'token', 'bob');
    expect(await asBob(['ls'])).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining('carrel user token NAME'),
    });
    writeFileSync(tokenFile, token);
    expect((await asBob(['exec', 'mine', '--', 'echo', 'here'])).stdout).toBe('here\n');
    await asBob(['rm', '--force', 'mine']);
  });

  it('is refused after removal; the memory bank and its history are closed, and kept for the same user', async () => {
    const history = join(carrel.home, 'memory-bank', userHash('bob'));
    const isOpen = async () => {
      const { pid } = await carrel.json<{ pid: number }>('status');
      return execFileSync('ls', ['-l', `/proc/${pid}/fd`], { encoding: 'utf8' }).includes(history);
    };
    await asBob(['create', '--name', 'notes', '--memory-bank']);
    const note = ['sh', '-c', 'mkdir -p /data/memory-bank/shop; echo private > /data/memory-bank/shop/a.md'];
    await asBob(['exec', 'notes', '--', ...note]);
    expect((await asBob(['memory', 'bank', 'log'])).stdout).toContain('shop/a.md');
    await asBob(['rm', '--force', 'notes']);
    expect(await isOpen()).toBe(true);
    await carrel.ok('user', 'rm', 'bob');
    expect((await asBob(['ls'])).exitCode).toBe(4);
    expect([await isOpen(), existsSync(join(history, 'history.db'))]).toEqual([false, true]);
    await carrel.ok('user', 'add', 'bob');
    expect(await carrel.ok('--user', 'bob', 'memory', 'bank', 'log')).toContain('shop/a.md');
  });

  it('leaves no content of the memory bank if it is cleaned without a backup before the removal', async () => {
    const history = join(carrel.home, 'memory-bank', userHash('bob'));
    await carrel.ok('--user', 'bob', 'volume', 'clean', '--yes', 'memory-bank');
    expect(existsSync(history)).toBe(true);
    await carrel.ok('--user', 'bob', 'volume', 'init');
    await carrel.ok('--user', 'bob', 'volume', 'clean', '--yes', '--no-backup', 'memory-bank');
    expect(existsSync(history)).toBe(false);
    await carrel.ok('user', 'rm', 'bob');
    expect(existsSync(history)).toBe(false);
  });

  it('can use projects of the account named by --uid when added again', async () => {
    const theirs = carrel.folder('theirs');
    chownSync(theirs, 4711, 4711);
    await carrel.ok('user', 'add', 'bob', '--uid', '4711');
    await carrel.ok('--user', 'bob', 'create', '--name', 'again', theirs);
    await carrel.ok('--user', 'bob', 'rm', '--force', 'again');
  });
});

describe.each(engines)('a secret, on %s', (engine) => {
  let dockerd: Dockerd | null;
  let carrel: Installation;
  const values = [randomBytes(24).toString('hex'), randomBytes(24).toString('hex')] as const;
  const told: string[] = [];

  beforeAll(async () => {
    dockerd = engine === 'docker' ? await Dockerd.open() : null;
    carrel = new Installation(null, dockerd);
  });
  afterAll(async () => {
    await carrel.dispose();
    await dockerd?.dispose();
  });

  const canary = new Canary(...values);
  const tell = async (...args: string[]) => {
    const { stdout, stderr } = await carrel.run(args);
    told.push(stdout, stderr);
    return stdout;
  };

  it('is a file in memory for the sandboxes that were granted it, and gets its new value at once', async () => {
    const set = (value: string) => carrel.run(['secret', 'set', 'API_KEY'], { input: value });
    told.push((await set(values[0])).stdout);
    const project = carrel.folder('project');
    writeFileSync(join(project, 'file'), 'x\n');
    await tell('create', '--name', 'box', '--secret', 'API_KEY', project);
    await tell('create', '--name', 'other');
    const read = async () => carrel.ok('exec', 'box', '--', 'cat', '/run/secrets/API_KEY');
    expect(await read()).toBe(values[0]);
    expect(await tell('exec', 'box', '--', 'stat', '-f', '-c', '%T', '/run/secrets')).toBe('tmpfs\n');
    expect(await tell('exec', 'box', '--', 'stat', '-c', '%a %U', '/run/secrets/API_KEY')).toBe('400 agent\n');
    expect((await carrel.run(['exec', 'other', '--', 'ls', '/run/secrets'])).exitCode).not.toBe(0);
    told.push((await set(values[1])).stdout);
    expect(await read()).toBe(values[1]);
    await carrel.killDaemon();
    expect(await read()).toBe(values[1]);
  });

  it('is refused in the name, the environment, the command and labels', async () => {
    for (const args of [
      ['run', '--env', `A=x${values[1]}x`, '--', 'true'],
      ['run', '--label', `a=${values[1]}`, '--', 'true'],
      ['run', '--label', `${values[1]}=a`, '--', 'true'],
      ['run', '--', 'echo', values[1]],
      ['exec', '--env', `A=${values[1]}`, 'other', '--', 'true'],
    ]) {
      const { exitCode, stderr } = await carrel.run(args);
      expect([exitCode, stderr]).toEqual([4, expect.stringContaining('--secret API_KEY')]);
      told.push(stderr);
    }
    const named = await carrel.run(['create', '--name', values[1]]);
    expect([named.exitCode, named.stderr]).toEqual([2, expect.stringContaining('the value of the secret API_KEY')]);
    told.push(named.stderr);
  });

  it('is in no output, in no other file and in no process', async () => {
    await carrel.ok('exec', 'box', '--', 'sh', '-c', 'echo work >> file; echo log');
    for (const args of [
      ['show', 'box'],
      ['ls'],
      ['diff', 'box'],
      ['patch', 'box'],
      ['logs', 'box'],
      ['events', '--after', '0'],
      ['secret', 'ls'],
      ['volume', 'status'],
      ['snapshot', 'box'],
      ['snapshots', 'box'],
      ['fork', 'box', 'fork'],
      ['volume', 'backup', 'memory-bank'],
    ])
      await tell('--json', ...args);
    expect(told.filter((text) => canary.isIn(text))).toEqual([]);
    expect(canary.filesBelow(carrel.home)).toEqual([expect.stringMatching(/\/users\/[0-9a-f]{8}\/secrets\/API_KEY$/)]);
    expect(canary.processes()).toEqual([]);
    if (dockerd) {
      const containers = (await dockerd.docker('ps', '--all', '--quiet')).split('\n');
      expect(canary.isIn(await dockerd.docker('inspect', ...containers))).toBe(false);
      expect(canary.filesBelow(join(dockerd.folder, 'data/containers'))).toEqual([]);
    }
  });

  it('is removed from memory with the sandbox, and from disk by secret rm', async () => {
    const { id } = await carrel.show('box');
    const places = readdirSync('/dev/shm').filter((name) => existsSync(join('/dev/shm', name, id)));
    expect(places).toHaveLength(1);
    await carrel.ok('rm', '--force', 'box', 'fork');
    expect(existsSync(join('/dev/shm', places[0]!))).toBe(false);
    expect((await carrel.run(['secret', 'rm', 'API_KEY'])).exitCode).toBe(0);
    expect(canary.filesBelow(carrel.home)).toEqual([]);
  });
});

describe.each(engines)('volumes, on %s', (engine) => {
  let dockerd: Dockerd | null;
  let carrel: Installation;

  beforeAll(async () => {
    dockerd = engine === 'docker' ? await Dockerd.open() : null;
    carrel = new Installation(null, dockerd);
  });
  afterAll(async () => {
    await carrel.dispose();
    await dockerd?.dispose();
  });

  it('outlive sandboxes, are backed up, cleaned and restored', async () => {
    const mount = ['--volume', 'memory-bank:/data/memory-bank'];
    await carrel.ok('run', '--rm', ...mount, '--', 'sh', '-c', 'echo remembered > /data/memory-bank/note');
    const again = ['run', '--rm', ...mount, '--', 'cat', '/data/memory-bank/note'];
    expect(await carrel.ok(...again)).toBe('remembered\n');
    expect((await carrel.run(['run', '--volume', 'memory-bank:/data:ro', '--', 'touch', '/data/x'])).exitCode).not.toBe(
      0,
    );
    for (const bad of [
      'home:/data',
      'memory-bank:/usr/x',
      'memory-bank:/run/secrets',
      'chromadb:/data',
      'nosuch:/data',
    ])
      expect([bad, (await carrel.run(['run', '--volume', bad, '--', 'true'])).exitCode]).not.toEqual([bad, 0]);
    const { file } = await carrel.json<{ file: string }>('volume', 'backup', 'memory-bank');
    // Sandboxes with --rm remove themselves, which may take a moment.
    await until(async () => (await carrel.list()).length === 1, 'the only one that stays');
    await carrel.ok('rm', '--force', (await carrel.list())[0]!.name);
    await carrel.ok('volume', 'clean', '--yes');
    expect((await carrel.run(again)).exitCode).not.toBe(0);
    await until(async () => (await carrel.json<unknown[]>('ls')).length === 0, 'the last to be removed');
    expect((await carrel.json<{ file: string }[]>('volume', 'ls', '--backups')).map((one) => one.file)).toContain(file);
    await carrel.ok('volume', 'restore', file);
    expect(await carrel.ok(...again)).toBe('remembered\n');
  });

  it('can have names of the user’s own, and backups that the user removes', async () => {
    expect(await carrel.run(['run', '--volume', 'cache:/c', '--', 'true'])).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining('carrel volume create cache'),
    });
    expect(await carrel.ok('volume', 'create', 'cache')).toBe('cache\n');
    await carrel.ok('run', '--rm', '--volume', 'cache:/c', '--', 'sh', '-c', 'echo kept > /c/note');
    await carrel.ok('create', '--name', 'holder', '--volume', 'cache:/c:ro');
    expect(await carrel.ok('exec', 'holder', '--', 'cat', '/c/note')).toBe('kept\n');
    await carrel.ok('stop', '--grace', '0', 'holder');
    const used = await carrel.run(['volume', 'rm', 'cache']);
    expect([used.exitCode, used.stderr]).toEqual([6, expect.stringContaining('carrel rm holder')]);
    await carrel.ok('rm', 'holder');
    expect(await carrel.ok('volume', 'ls')).toMatch(/^cache +named /m);
    const removed = await carrel.ok('volume', 'rm', 'cache');
    const file = /^removed cache; backup in (\S+)\n$/.exec(removed)![1]!;
    const wrong = await carrel.run(['volume', 'restore', '/nosuch.tar']);
    expect([wrong.exitCode, wrong.stderr]).toEqual([5, expect.stringContaining('carrel volume ls --backups')]);
    await carrel.ok('volume', 'restore', basename(file));
    expect(await carrel.ok('run', '--rm', '--volume', 'cache:/c', '--', 'cat', '/c/note')).toBe('kept\n');
    expect(await carrel.ok('volume', 'rm', '--backups', file)).toBe(`removed ${file}\n`);
    expect(await carrel.ok('volume', 'ls', '--backups')).not.toContain('cache');
    expect((await carrel.run(['volume', 'rm', 'memory-bank'])).exitCode).toBe(6);
    await until(async () => (await carrel.list()).length === 0, 'the last to be removed');
    expect(await carrel.ok('volume', 'rm', '--no-backup', 'cache')).toBe('removed cache\n');
    const chroma = await carrel.run(['run', '--volume', 'chromadb:/data', '--', 'true']);
    expect(chroma.stderr).toContain('memory-bank:/data/memory-bank');
  });

  it('home shell changes the home of all sandboxes, also twice at the same time, and leaves no sandbox', async () => {
    const write = (name: string) => carrel.run(['home', 'shell', '--', 'sh', '-c', `echo ${name} > ~/${name}; pwd`]);
    for (const outcome of await Promise.all([write('one'), write('two')]))
      expect(outcome).toMatchObject({ exitCode: 0, stdout: '/home/agent\n' });
    expect(await carrel.run(['home', 'shell'], { input: 'rm two; exit 7\n' })).toMatchObject({ exitCode: 7 });
    expect(await carrel.ok('run', '--rm', '--', 'sh', '-c', 'cat one; ls; echo mine > one')).toBe('one\none\n');
    expect(await carrel.ok('home', 'shell', '--', 'cat', 'one')).toBe('one\n');
    await until(async () => (await carrel.list()).length === 0, 'the last to be removed');
  });

  it('plugins are for all users, and only the owner changes them', async () => {
    const plugins = carrel.folder('plugins');
    writeFileSync(join(plugins, 'one'), 'shared\n');
    await carrel.ok('volume', 'init', '--plugins', plugins);
    const use = (script: string) =>
      carrel.run(['run', '--rm', '--volume', 'base-plugins:/p', '--', 'sh', '-c', script]);
    expect(await use('cat /p/one; touch /p/two')).toMatchObject({ exitCode: 1, stdout: 'shared\n' });
  });

  it('with older names are migrated, and the originals stay', async () => {
    const old = carrel.folder('old');
    mkdirSync(join(old, 'hal9000-coordinator-state'));
    chmodSync(join(old, 'hal9000-coordinator-state'), 0o700);
    writeFileSync(join(old, 'hal9000-coordinator-state/state'), 'old\n');
    // 81b637d8 is the hash of bob, deadbeef that of no user.
    for (const hash of ['81b637d8', 'deadbeef']) mkdirSync(join(old, `hal9000-memory-bank-${hash}`));
    writeFileSync(join(old, 'hal9000-memory-bank-81b637d8/note'), 'of bob\n');
    // Some installations of HAL-9000 took the number of the account instead of its name.
    mkdirSync(join(old, `hal9000-claude-session-${userHash('4711')}`));
    mkdirSync(join(old, 'hal9000-unheard-of'));
    await carrel.ok('user', 'add', 'bob', '--uid', '4711');
    const first = await carrel.run(['volume', 'migrate', old]);
    expect(first.stdout).toMatch(
      /^hal9000-coordinator-state → carrel-coordinator-state-\w+\nhal9000-.* → carrel-(session|memory-bank)-81b637d8\nhal9000-.* → carrel-(session|memory-bank)-81b637d8\n$/,
    );
    expect(first.stderr).toContain('left hal9000-memory-bank-deadbeef: no user here has this hash');
    expect(first.stderr).toContain('left hal9000-unheard-of: no volume of HAL-9000 has such a name');
    expect(readFileSync(join(carrel.home, 'volumes/carrel-memory-bank-81b637d8/note'), 'utf8')).toBe('of bob\n');
    expect((await carrel.ok('volume', 'migrate', old)).match(/\(earlier\)/g)).toHaveLength(3);
    const args = ['run', '--rm', '--volume', 'coordinator-state:/data', '--', 'cat', '/data/state'];
    expect(await carrel.ok(...args)).toBe('old\n');
    expect(readFileSync(join(old, 'hal9000-coordinator-state/state'), 'utf8')).toBe('old\n');
  });
});
