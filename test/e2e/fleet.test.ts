// @takes 50 s
/** A declared fleet: `init`, `up` and what keeps it from doing harm. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gather, Installation, type Outcome, until } from '../harness/installation.ts';
import { agent } from '../harness/project.ts';

let carrel: Installation;
let folder: string;

beforeAll(() => {
  carrel = new Installation();
  folder = carrel.folder('shop');
  for (const [name, file] of [
    ['app', 'package.json'],
    ['api', 'go.mod'],
  ] as const) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, file), '{}\n');
  }
});
afterAll(() => carrel.dispose());

const here = (...args: string[]): Promise<Outcome> => carrel.run(args, { cwd: folder });
const put = (text: string) => writeFileSync(join(folder, 'carrel.yaml'), text);
const list = async () =>
  (await carrel.client.call('GET /v1/sandboxes')).sort((one, other) => (one.name < other.name ? -1 : 1));
const ids = async () => (await list()).map(({ name, id }) => `${name} ${id}`);
const states = async () => (await list()).map(({ name, state }) => `${name} ${state}`);

/** Runs `up` on a terminal and gives this answer to its question. */
async function atTerminal(answer: string): Promise<Outcome> {
  const program = `${process.execPath} ${resolve('bin/carrel')} up`;
  const env = { PATH: process.env.PATH, HOME: carrel.home, CARREL_HOME: carrel.home, NO_COLOR: '1' };
  const child = spawn('script', ['-qec', program, '/dev/null'], { cwd: folder, env });
  const shown = gather(child.stdout);
  const ended = once(child, 'close') as Promise<[number]>;
  await until(() => shown().includes('[y/N]'), 'the question');
  child.stdin.end(answer);
  const [exitCode] = await ended;
  return { exitCode, stdout: shown(), stderr: '' };
}

const base = (api = '[sleep, infinity]', more = '') => `name: shop
projects: {app: ./app, api: api}
sandboxes:
  app: {project: app}
  api: {project: api, command: ${api}}
${more}`;

describe('a project without carrel.yaml', () => {
  it('init writes what it finds, and never overwrites a file', async () => {
    const { exitCode, stdout } = await here('init');
    expect([exitCode, stdout]).toEqual([0, `${join(folder, 'carrel.yaml')}\n`]);
    const text = readFileSync(join(folder, 'carrel.yaml'), 'utf8');
    expect(text).toContain('app: ./app # Node.js');
    expect(JSON.parse(readFileSync(join(folder, '.carrel/carrel.schema.json'), 'utf8'))).toMatchObject({
      title: 'carrel.yaml',
    });
    expect((await here('init')).exitCode).toBe(6);
    expect(readFileSync(join(folder, 'carrel.yaml'), 'utf8')).toBe(text);
    rmSync(join(folder, 'carrel.yaml'));
    symlinkSync('/nonexistent/target', join(folder, 'carrel.yaml'));
    expect((await here('init')).exitCode).toBe(6);
    rmSync(join(folder, 'carrel.yaml'));
    await here('init');
    expect(readFileSync(join(folder, 'carrel.yaml'), 'utf8')).toBe(text);
  });

  it('up --dry-run only shows the plan, up carries it out, and a second up has nothing to do', async () => {
    const planned = await here('up', '--dry-run');
    expect([planned.exitCode, planned.stdout]).toEqual([0, 'fleet shop\n  create  api\n  create  app\n']);
    expect(await list()).toEqual([]);
    const done = await here('up');
    expect([done.exitCode, done.stdout, done.stderr]).toEqual([
      0,
      'created api\ncreated app\n',
      'fleet shop: 2 created\n',
    ]);
    expect(await states()).toEqual(['api running', 'app running']);
    expect(await carrel.ok('exec', 'app', '--', 'ls', '/workspace')).toBe('package.json\n');
    const before = await ids();
    const again = await here('up');
    expect([again.exitCode, again.stdout]).toEqual([0, '']);
    expect(again.stderr).toBe('fleet shop: nothing to do, 2 sandboxes are as declared\n');
    expect(await ids()).toEqual(before);
  });
});

it('a fleet may be declared in the project, and its `network` also holds for other sandboxes', async () => {
  const project = carrel.folder('single');
  writeFileSync(join(project, 'go.mod'), '');
  await carrel.run(['init'], { cwd: project });
  writeFileSync(
    join(project, 'carrel.yaml'),
    `${readFileSync(join(project, 'carrel.yaml'), 'utf8')}network: [example.org]\n`,
  );
  await carrel.ok('trust', project);
  const { exitCode, stdout, stderr } = await carrel.run(['up'], { cwd: project });
  expect([exitCode, stdout, stderr]).toEqual([0, 'created single\n', expect.any(String)]);
  expect((await carrel.show('single')).network.allow).toEqual(['example.org']);
  const { id } = await carrel.show('single');
  put(
    'name: single\nsandboxes: {single: {project: x, network: [example.org, example.com]}}\nprojects: {x: ../single}\n',
  );
  await here('trust');
  expect((await here('up')).stdout).toBe('changed single\n');
  expect(await carrel.show('single')).toMatchObject({ id, network: { allow: ['example.org', 'example.com'] } });
  await carrel.ok('create', '--name', 'beside', project);
  expect((await carrel.show('beside')).network.allow).toEqual(['example.org']);
  writeFileSync(join(project, 'carrel.yaml'), '? '.repeat(700));
  const bomb = await carrel.run(['run', project, '--', 'true']);
  expect([bomb.exitCode, bomb.stderr]).toEqual([2, expect.stringContaining('carrel.yaml:1:43: nested deeper than 20')]);
  await carrel.ok('rm', '--force', 'single', 'beside');
});

describe('a fleet that differs from its file', () => {
  beforeEach(async () => {
    put(base());
    expect((await here('up', '--yes')).exitCode).toBe(0);
  });

  it('a stopped sandbox is started, a completed one is left', async () => {
    put(base('["true"]'));
    expect((await here('up', '--yes')).stdout).toBe('replaced api\n');
    await carrel.ok('wait', 'api');
    await carrel.ok('stop', '--grace', '0', 'app');
    expect((await here('up')).stdout).toBe('started app\n');
    expect(await states()).toEqual(['api completed', 'app running']);
  });

  it('removals need a confirmation: without a terminal they are refused and nothing is done', async () => {
    put(base('[sleep, "1000"]', '  new: {}\n').replace('  app: {project: app}\n', ''));
    const before = await ids();
    const refused = await here('up');
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain('replace  api  command: ["sleep","infinity"] → ["sleep","1000"]');
    expect(refused.stderr).toContain('this would remove app and replace api, and stdin is not a terminal to ask at');
    expect(refused.stderr).toContain('--yes');
    expect(await ids()).toEqual(before);
    const done = JSON.parse((await here('--json', 'up', '--yes')).stdout) as { done: { act: string; name: string }[] };
    expect(done.done.map(({ act, name }) => `${act} ${name}`)).toEqual(['replace api', 'create new', 'remove app']);
    expect(await states()).toEqual(['api running', 'new running']);
  });

  it('at a terminal up asks, and continues only after a yes', async () => {
    put(base('[sleep, "8000"]'));
    const before = await ids();
    const no = await atTerminal('\n');
    expect([no.exitCode, no.stdout]).toEqual([
      130,
      expect.stringContaining('This will replace api, with home and data. Go on? [y/N]'),
    ]);
    expect(await ids()).toEqual(before);
    expect((await atTerminal('y\n')).stdout).toContain('replaced api');
    expect((await carrel.show('api')).command).toEqual(['sleep', '8000']);
  });

  it('up refuses to replace or remove a sandbox with changes that were not applied, and does nothing else', async () => {
    await agent(carrel, 'app', 'echo work > /workspace/work');
    const before = await ids();
    put(base('[sleep, "7000"]', '  extra: {}\n').replace('{project: app}', '{project: app, limits: {pids: 99}}'));
    const refused = await here('up', '--yes');
    expect([refused.exitCode, refused.stderr]).toEqual([
      6,
      expect.stringContaining('app would be replaced, and has changes'),
    ]);
    put(base('[sleep, infinity]').replace('  app: {project: app}\n', ''));
    expect((await here('up', '--yes')).exitCode).toBe(6);
    expect((await here('up', '--dry-run')).stdout).toContain('no longer declared; has changes that were not applied');
    expect(await ids()).toEqual(before);
    expect(await states()).toEqual(['api running', 'app running']);
    expect(await carrel.ok('exec', 'app', '--', 'cat', '/workspace/work')).toBe('work\n');
    await carrel.ok('apply', 'app');
    expect((await here('up', '--yes')).stdout).toBe('removed app\n');
  });

  it('a fleet owns only what it created: forks and other sandboxes are left, a taken name is refused', async () => {
    await carrel.ok('fork', 'app', 'branch');
    await carrel.ok('create', '--name', 'mine');
    put('name: shop\nsandboxes: {mine: {}}\n');
    const taken = await here('up', '--yes');
    expect([taken.exitCode, taken.stderr]).toEqual([
      6,
      expect.stringMatching(/^carrel: carrel\.yaml:2:13: sandboxes\.mine: /),
    ]);
    put('name: other\nsandboxes: {}\n');
    expect((await here('up', '--yes')).stderr).toContain('nothing to do');
    put('name: shop\n');
    expect((await here('up', '--yes')).stdout).toBe('removed api\nremoved app\n');
    expect(await states()).toEqual(['branch stopped', 'mine running']);
    await carrel.ok('rm', '--force', 'branch', 'mine');
  });
});

describe('up refuses before it does anything', () => {
  beforeAll(async () => {
    put('name: shop\n');
    expect((await here('up', '--yes')).exitCode).toBe(0);
  });

  it.each([
    [
      5,
      'secrets: [NOPE]\nsandboxes: {a: {}}',
      'carrel.yaml:2:11: secrets.0: the secret NOPE is not set\n  hint: carrel secret set NOPE',
    ],
    [
      2,
      'sandboxes: {a: {}, b: {privileged: true}}',
      'carrel.yaml:2:24: sandboxes.b.privileged: there is no such field',
    ],
    [2, 'projects: {x: ./nope}\nsandboxes: {a: {}, b: {project: x}}', 'carrel.yaml:3:20: sandboxes.b: '],
    [4, 'sandboxes: {a: {}, b: {engine: docker, image: evil}}', 'sandboxes.b: "evil" is not among the images'],
    [2, 'sandboxes: {a: {}, b: {limits: {pids: 1}}}', 'sandboxes.b: limits.pids'],
    [2, 'volumes: [session]\nsandboxes: {a: {}, b: {volumes: ["session:/etc"]}}', 'no volume can be mounted at'],
    [
      4,
      'projects: {x: .}\nsandboxes: {a: {}, b: {project: x, mode: bind}}',
      'sandboxes.b.mode: the sandbox b could change this file',
    ],
  ])('%i: %j', async (code, text, expected) => {
    put(`name: shop\n${text}\n`);
    const { exitCode, stderr } = await here('up', '--yes');
    expect([exitCode, stderr]).toEqual([code, expect.stringContaining(expected)]);
    expect(await carrel.client.call('GET /v1/sandboxes')).toEqual([]);
  });

  it('a carrel.yaml that an agent can write, or that is a link', async () => {
    const project = carrel.folder('bound');
    writeFileSync(join(project, 'carrel.yaml'), 'name: evil\nsandboxes: {evil: {}}\n');
    await carrel.ok('create', '--name', 'writer', '--mode', 'bind', project);
    const { exitCode, stderr } = await carrel.run(['up'], { cwd: project });
    expect([exitCode, stderr]).toEqual([
      4,
      expect.stringContaining('is in a folder that the sandbox writer can write'),
    ]);
    await carrel.ok('rm', '--force', 'writer');
    writeFileSync(join(folder, 'carrel.yaml'), 'name: shop\n', { mode: 0o644 });
    const linked = carrel.folder('linked');
    symlinkSync(join(folder, 'carrel.yaml'), join(linked, 'carrel.yaml'));
    expect((await carrel.run(['up'], { cwd: linked })).exitCode).toBe(4);
  });
});

describe('up, repeated', () => {
  const wanted = base('[sleep, "5000"]', '  third: {}\n').replace(
    '{project: app}',
    '{project: app, limits: {pids: 77}}',
  );

  it.each(['up:stopped', 'up:removed', 'up:created'])(
    'completes what an up that was killed at %s began',
    async (point) => {
      put(base());
      expect((await here('up', '--yes')).exitCode).toBe(0);
      put(wanted);
      const killed = await carrel.run(['up', '--yes'], { cwd: folder, env: { CARREL_CRASH_AT: point } });
      expect(killed.exitCode).toBe(255);
      expect((await here('up', '--yes')).exitCode).toBe(0);
      expect(await states()).toEqual(['api running', 'app running', 'third running']);
      expect((await carrel.show('app')).limits.pids).toBe(77);
      expect((await here('up')).stderr).toContain('nothing to do, 3 sandboxes');
    },
  );

  it('succeeds several times at once and brings up one fleet', async () => {
    put('name: shop\n');
    await here('up', '--yes');
    for (const text of [base(), wanted]) {
      put(text);
      const all = await Promise.all([1, 2, 3].map(() => here('up', '--yes')));
      expect(all.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual(all.map(() => [0, expect.any(String)]));
      expect((await here('up')).stderr).toContain('nothing to do');
    }
    expect(await states()).toEqual(['api running', 'app running', 'third running']);
    const shown = await Promise.all(['api', 'app', 'third'].map((name) => carrel.show(name)));
    expect(new Set(shown.map(({ id }) => id)).size).toBe(3);
  });
});

it('watchers of rooms are trusted, added, changed and removed with their declaration', async () => {
  const out = carrel.folder('watched');
  const watched = (file: string) =>
    put(`name: shop\nrooms: {team: {watch: {log: {run: [cp, /dev/stdin, ${join(out, file)}]}}}}\n`);
  const handled = (file: string, text: string) =>
    until(() => existsSync(join(out, file)) && readFileSync(join(out, file), 'utf8').includes(text), `${file}`);
  watched('one');
  const untrusted = await here('up', '--yes');
  expect([untrusted.exitCode, untrusted.stderr]).toEqual([
    4,
    expect.stringContaining(`+ room team: log: run ["cp","/dev/stdin","${out}/one"]`),
  ]);
  expect((await here('trust', 'carrel.yaml')).exitCode).toBe(0);
  expect((await here('up', '--yes')).stdout).toContain('made room team\nadded watcher log of room team\n');
  await carrel.ok('room', 'post', 'team', '@log first');
  await handled('one', 'first');
  expect((await here('up', '--yes')).stderr).toContain('nothing to do');
  watched('two');
  expect((await here('trust', 'carrel.yaml')).exitCode).toBe(0);
  expect((await here('up', '--yes')).stderr).toContain('fleet shop: 1 watcher added');
  await carrel.ok('room', 'post', 'team', '@log second');
  await handled('two', 'second');
  put('name: shop\n');
  expect((await here('up', '--yes')).stdout).toBe('dropped watcher log of room team\n');
  expect(await carrel.json('room', 'watch', 'team')).toEqual([]);
});

it('up continues after a step that fails, and reports commands that ended at once', async () => {
  put('name: shop\n');
  expect((await here('up', '--yes')).exitCode).toBe(0);
  put(`name: shop
sandboxes:
  a: {runtime: runsc}
  b: {command: [sh, -c, "echo why >&2; exit 3"]}
  c: {command: [nosuch]}
  d: {command: [sleep, infinity]}
  e: {command: ["true"]}
`);
  const { exitCode, stdout, stderr } = await here('up', '--yes');
  expect([exitCode, stdout]).toEqual([3, 'created d\ncreated e\n']);
  expect(stderr).toMatch(/sandboxes.a: .*runsc/);
  for (const died of ['b ended at once: exited with 3', 'c ended at once: exited with 127', 'carrel logs b'])
    expect(stderr).toContain(died);
  expect(await states()).toEqual(['b failed', 'c failed', 'd running', 'e completed']);
  const again = await here('--json', 'up', '--yes');
  const { done, left, failed } = JSON.parse(again.stdout);
  expect([done, left.length]).toEqual([[], 3]);
  expect(
    failed.map(({ step, code }: { step: { act: string; name: string }; code: string }) => [step.act, step.name, code]),
  ).toEqual([
    ['create', 'a', 'unsupported'],
    ['start', 'b', 'conflict'],
    ['start', 'c', 'conflict'],
  ]);
  put('name: shop\n');
  expect((await here('up', '--yes')).exitCode).toBe(0);
});

it('without a carrel.yaml, up starts the daemon, and options for a fleet are refused', async () => {
  const empty = carrel.folder('empty');
  expect(existsSync(join(empty, 'carrel.yaml'))).toBe(false);
  expect((await carrel.run(['up', '-d'], { cwd: empty })).stdout).toMatch(/^the daemon is running/);
  const { exitCode, stderr } = await carrel.run(['up', '--dry-run'], { cwd: empty });
  expect([exitCode, stderr]).toEqual([5, expect.stringContaining('carrel init')]);
});

it('compose prints one file that docker-compose takes, the same every time, and asks for no secret', async () => {
  put(base('[sleep, "$HOME"]', 'volumes: [session]\nsecrets: [NOPE]\n'));
  const { exitCode, stdout } = await here('compose');
  expect(exitCode).toBe(0);
  expect((await here('compose')).stdout).toBe(stdout);
  expect(JSON.parse((await here('--json', 'compose')).stdout)).toEqual({ fleet: 'shop', text: stdout });
  const rendered = carrel.folder('rendered');
  writeFileSync(join(rendered, 'docker-compose.yml'), stdout);
  const services = execFileSync('docker-compose', ['config', '--services'], { cwd: rendered, encoding: 'utf8' });
  expect(services.trim().split('\n').sort()).toEqual(['api', 'app', 'hub', 'prepare']);
  put('name: shop\nsandboxes: {hub: {}}\n');
  const refused = await here('compose');
  expect([refused.exitCode, refused.stderr]).toEqual([6, expect.stringContaining('carrel.yaml:2:13: sandboxes.hub: ')]);
});
