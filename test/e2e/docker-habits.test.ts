// @needs root
/** Options and commands that work as those of docker do. */
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Installation, isServed, type SandboxView, until } from '../harness/installation.ts';
import { Project } from '../harness/project.ts';

let carrel: Installation;

beforeAll(() => {
  carrel = new Installation();
});
afterAll(() => carrel.dispose());
afterEach(() => carrel.run(['rm', '--all', '--force', '--yes']));

const list = async () => (await carrel.json<SandboxView[]>('ls')).map(({ name }) => name).sort();

describe('run', () => {
  it('takes variables from -e, from the shell and from a file, and -e wins', async () => {
    const file = join(carrel.home, 'some.env');
    writeFileSync(file, '# colours\nONE=file\nTWO="two words"\nTHREE\n');
    const outcome = await carrel.run(
      [
        'run',
        '--rm',
        '--env-file',
        file,
        '-e',
        'ONE=typed',
        '-e',
        'FOUR',
        '--',
        'sh',
        '-c',
        'echo $ONE $TWO $THREE $FOUR',
      ],
      { env: { THREE: '3', FOUR: '4' } },
    );
    expect(outcome).toMatchObject({ exitCode: 0, stdout: 'typed "two words" 3 4\n' });
    const bad = await carrel.run(['run', '--env-file', join(carrel.home, 'none.env'), '--', 'true']);
    expect(bad).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--env-file: ENOENT') });
  });

  it('runs in the folder of -w, and so do later commands', async () => {
    await carrel.ok('create', '--name', 'a', '-w', '/usr/share');
    expect(await carrel.ok('exec', 'a', 'pwd')).toBe('/usr/share\n');
    expect(await carrel.ok('run', '--rm', '-w', '/usr', '--', 'pwd')).toBe('/usr\n');
    const bad = await carrel.run(['run', '-w', 'usr', '--', 'pwd']);
    expect(bad).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/^carrel: --cwd: not an absolute path/) });
    const missing = await carrel.run(['run', '-w', '/none', '--', 'pwd']);
    expect(missing.exitCode).not.toBe(0);
    expect(missing.stderr).toContain('/none');
  });

  it('mounts a volume with -v', async () => {
    await carrel.ok('volume', 'create', 'cache');
    await carrel.ok('run', '--rm', '-v', 'cache:/cache', '--', 'sh', '-c', 'echo kept > /cache/x');
    expect(await carrel.ok('run', '--rm', '-v', 'cache:/cache:ro', '--', 'cat', '/cache/x')).toBe('kept\n');
  });

  it('forwards the ports of -p, HOSTPORT before PORT, and refuses one that is in use', async () => {
    const serve = ['python3', '-m', 'http.server', '--bind', '127.0.0.1', '8123'];
    const { stderr } = await carrel.run(['create', '--name', 'web', '-p', '8123', '--', ...serve]);
    const { hostPort } = (await carrel.show('web')).network.ports[0]!;
    expect(stderr).toBe(`port 8123 is at 127.0.0.1:${hostPort}\n`);
    await until(() => isServed(`http://127.0.0.1:${hostPort}/`), 'the server inside to answer');
    const busy = createServer().listen(0, '127.0.0.1');
    await once(busy, 'listening');
    const { port } = busy.address() as { port: number };
    const refused = await carrel.run(['run', '-p', `127.0.0.1:${port}:80`, '--', 'true']);
    busy.close();
    expect(refused).toMatchObject({ exitCode: 6, stderr: expect.stringContaining(String(port)) });
    expect(await list()).toEqual(['web']);
  });
});

describe('network presets', () => {
  it('are listed by name, and dev gives the hosts of all of them', async () => {
    const names = 'npm,pypi,crates,go,github,debian,anthropic,openai,gemini';
    const presets = await carrel.json<{ name: string; hosts: string[] }[]>('net', 'presets');
    expect(presets.map(({ name }) => name)).toEqual(['dev', ...names.split(',')]);
    for (const [name, network] of [
      ['each', names],
      ['all', 'dev'],
    ] as const)
      await carrel.ok('create', '--name', name, '--network', network);
    const { allow } = (await carrel.show('each')).network;
    expect(allow).toEqual(expect.arrayContaining(presets.flatMap(({ hosts }) => hosts)));
    expect((await carrel.show('all')).network.allow).toEqual(allow);
  });

  it('become hosts on the command line, and config.yaml replaces them', async () => {
    await carrel.ok('create', '--name', 'a', '--network', 'npm,example.com:8080');
    const allow = async () => (await carrel.show('a')).network.allow;
    expect(await allow()).toEqual(['registry.npmjs.org', 'registry.yarnpkg.com', 'example.com:8080']);
    writeFileSync(
      join(carrel.home, 'config.yaml'),
      'network: {presets: {npm: [npm.corp.example], corp: [git.corp.example]}}\n',
    );
    // A later change of a preset does not widen the rules of a sandbox.
    expect(await allow()).not.toContain('npm.corp.example');
    await carrel.ok('net', 'allow', 'a', 'corp');
    expect(await allow()).toContain('git.corp.example');
    await carrel.ok('net', 'deny', 'a', 'corp');
    expect(await allow()).not.toContain('git.corp.example');
    const listed = await carrel.ok('net', 'presets');
    expect(listed).toMatch(/^npm +npm\.corp\.example$/m);
    expect(listed).toMatch(/^dev .*pypi\.org/m);
    rmSync(join(carrel.home, 'config.yaml'));
  });

  it('have the registries that npm, pip and cargo of this machine are configured with', async () => {
    const files = {
      '.npmrc': 'registry=https://npm.corp.example/\n',
      '.config/pip/pip.conf': '[global]\nindex-url = https://pip.corp.example/simple\n',
      '.cargo/config.toml': '[registries.corp]\nindex = "sparse+https://crates.corp.example/index/"\n',
    };
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(carrel.home, path)), { recursive: true });
      writeFileSync(join(carrel.home, path), content);
    }
    // The daemon reads these files when it starts.
    await carrel.ok('down');
    await carrel.ok('create', '--name', 'a', '--network', 'npm,pypi,crates');
    const hosts = ['npm.corp.example', 'pip.corp.example', 'crates.corp.example'];
    expect((await carrel.show('a')).network.allow).toEqual(expect.arrayContaining(hosts));
    // Each registry is listed with the file that named it.
    const presets = await carrel.json<{ found: { file: string }[] }[]>('net', 'presets');
    const named = presets.flatMap(({ found }) => found.map(({ file }) => file));
    expect(named).toEqual(expect.arrayContaining(Object.keys(files).map((path) => join(carrel.home, path))));
    expect(await carrel.ok('net', 'explain', 'npm.corp.example')).toMatch(/refused without --network[\s\S]*npm/);
    for (const path of Object.keys(files)) rmSync(join(carrel.home, path));
  });
});

describe('exec', () => {
  it('takes its command without --', async () => {
    await carrel.ok('create', '--name', 'a');
    expect(await carrel.ok('exec', '-e', 'A=1', 'a', 'sh', '-c', 'echo $A "$@"', 'sh', '--', '-x')).toBe('1 -- -x\n');
  });

  it('starts a sandbox that was stopped, and does not repeat a command that ended', async () => {
    await carrel.ok('create', '--name', 'a');
    await carrel.ok('stop', '--grace', '0', 'a');
    expect(await carrel.ok('exec', 'a', 'echo', 'hi')).toBe('hi\n');
    expect(await carrel.show('a')).toMatchObject({ state: 'running' });
    const project = new Project(carrel.folder('project'), { x: '' });
    await carrel.ok('run', '--name', 'done', project.path, '--', 'sh', '-c', 'echo again >> x');
    const refused = await carrel.run(['exec', 'done', 'true']);
    expect(refused).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('done is not running') });
    expect((await carrel.ok('diff', 'done')).match(/^\+again$/gm)).toHaveLength(1);
  });
});

describe('several sandboxes', () => {
  it('ls -q prints names, ps is an alias of ls, and logs -n prints the last lines', async () => {
    await carrel.ok('run', '--name', 'a', '--', 'seq', '3');
    await carrel.ok('create', '--name', 'b');
    expect((await carrel.ok('ls', '-q')).trim().split('\n').sort()).toEqual(['a', 'b']);
    expect(await carrel.ok('ps', '-q')).toBe(await carrel.ok('ls', '-q'));
    expect(await carrel.ok('logs', '-n', '2', 'a')).toBe('2\n3\n');
  });

  it('start --all starts stopped sandboxes, rm --all removes ended ones', async () => {
    await carrel.ok('run', '--name', 'ended', '--', 'true');
    for (const name of ['a', 'b']) await carrel.ok('create', '--name', name);
    await carrel.ok('stop', '--grace', '0', 'a', 'b');
    expect((await carrel.ok('start', '--all')).trim().split('\n').sort()).toEqual(['a', 'b']);
    expect(await carrel.show('ended')).toMatchObject({ state: 'completed' });
    const unasked = await carrel.run(['rm', '--all']);
    expect(unasked).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('would remove ended') });
    expect(await carrel.ok('rm', '--all', '--yes')).toBe('ended\n');
    expect(await list()).toEqual(['a', 'b']);
    await carrel.ok('rm', '--all', '--force', '--yes');
    expect(await list()).toEqual([]);
  });
});
