// @needs root
// @takes 50 s
/** Images are built, used and pinned: the real CLI and daemon on a real dockerd. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BuiltView, ImageView } from '../../src/noun/image/api.ts';
import { Dockerd, image as plainImage } from '../harness/dockerd.ts';
import { Installation, until } from '../harness/installation.ts';
import { importParent } from '../harness/parent-image.ts';
import { SwarmProject } from '../harness/swarm.ts';
import { carrelOn, Terminal } from '../harness/terminal.ts';

let dockerd: Dockerd;
let carrel: Installation;

beforeAll(async () => {
  dockerd = await Dockerd.open();
  await importParent(dockerd, 'parent');
  carrel = new Installation();
  configure('parent');
}, 120_000);
afterAll(async () => {
  await carrel.dispose();
  await dockerd.dispose();
}, 120_000);

function configure(parent: string, images: readonly string[] = [], more: object = {}): void {
  const text = JSON.stringify({ docker: { socket: dockerd.socketPath, parent }, images, ...more });
  writeFileSync(join(carrel.home, 'config.yaml'), text);
}

let count = 0;
function project(files: Readonly<Record<string, string>>): string {
  const folder = carrel.folder(`project-${++count}`);
  for (const [path, text] of Object.entries(files)) put(folder, path, text);
  return folder;
}

function put(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const own = '.carrel/Dockerfile.sandbox';
const base = 'FROM carrel-sandbox:base';
const withDockerfile = (...lines: string[]) => project({ [own]: `${lines.join('\n')}\n` });
const build = (folder: string, ...more: string[]) => carrel.json<BuiltView>('image', 'build', folder, ...more);
/** docker runs the script directly, which is quicker than a sandbox. */
const inImage = (id: string | null, script: string) =>
  dockerd.docker('run', '--rm', '--network=none', id!, 'sh', '-c', script);
const on = (name: string) => ['--engine', 'docker', '--image', name];
const containers = async () => (await dockerd.docker('ps', '-aq')).split('\n').filter(Boolean).length;

describe('the base', () => {
  it('has the tools of Carrel, the account agent, and what projects need', async () => {
    expect(await carrel.ok('image', 'build')).toBe('carrel-sandbox:base\n');
    const { built, image } = await carrel.json<BuiltView>('image', 'build');
    expect([built, image.source]).toEqual([false, 'base']);
    const tools = 'for p in git node python3 rg; do $p; done; ls /opt/carrel/bin; cat /etc/passwd';
    expect(await inImage(image.id, `${tools}; /opt/carrel/bin/init -- echo ran`)).toBe(
      [
        ...[
          'git ',
          'node ',
          'python3 ',
          'rg ',
          'carrel-adapter',
          'carrel-agent',
          'carrel-agent-api',
          'carrel-configure',
          'carrel-idle',
          'carrel-memory',
          'carrel-memory-bank',
          'carrel-room',
          'carrel-spoke',
          'demo-acp',
          'demo-agent',
          'init',
          'lib',
          'root:x:0:0::/root:/bin/sh',
        ],
        ...['agent:x:1000:1000:agent:/home/agent:/bin/bash', 'ran'],
      ].join('\n'),
    );
  });

  it('is made of the packages of this machine if there is no registry', async () => {
    configure('host');
    const folder = project({
      'package.json': '{"name": "x", "version": "1.0.0"}',
      'package-lock.json':
        '{"name": "x", "version": "1.0.0", "lockfileVersion": 3, "packages": {"": {"name": "x", "version": "1.0.0"}}}',
      'requirements.txt': '# nothing\n',
    });
    // Some hundred megabytes are copied.
    const made = await carrel.run(['--json', 'image', 'build', folder, '--offline'], { timeoutMs: 110_000 });
    expect(made.stderr).toBe('');
    const { image } = JSON.parse(made.stdout) as BuiltView;
    const versions = 'for p in git node npm python3 rg; do $p --version > /dev/null || echo no $p; done; dpkg --audit';
    const settings = 'ls -A /home /root /usr/local/bin; ls /etc';
    const said = await carrel.ok('run', '--rm', ...on(image.name), '--', 'sh', '-c', `${versions}; ${settings}`);
    expect(said).toMatch(/^\/home:\nagent\n(\n\/root:\n)?\n\/usr\/local\/bin:\n.*alternatives\n.*passwd\n/s);
    expect(said).not.toMatch(/^(no |shadow|ssh|sudoers|gitconfig|npmrc)/m);
    expect(await carrel.json<BuiltView>('image', 'build')).toMatchObject({ built: false });
  }, 120_000);

  it('swarm run builds the image of a project on the base, and builds it again only after a change', async () => {
    await carrel.ok('down');
    configure('host', [], { agents: { mine: { kind: 'command', command: ['from-image'] } } });
    const swarm = new SwarmProject(carrel, 'swarm', { one: ['x'], two: ['x'], three: ['x'] });
    const run = async (name: string) => {
      const options = ['--agent', 'mine', '--engine', 'docker', '--project', swarm.path];
      const { stderr } = await carrel.run(['swarm', 'run', '--file', swarm.file(name), ...options]);
      expect([stderr, swarm.statuses(name)]).toEqual([expect.not.stringContaining('error'), ['completed']]);
      const made = (await carrel.json<ImageView[]>('image', 'ls')).find((one) => one.project === swarm.path);
      return { id: made!.id, said: swarm.git('show', `refs/carrel/${name}/heads/feat/${name}:said`) };
    };
    const says = (text: string) => {
      const line = `printf '#!/bin/sh\\necho ${text} > said\\n' > /usr/local/bin/from-image`;
      put(swarm.path, own, `${base}\nUSER 0\nRUN ${line} && chmod 755 /usr/local/bin/from-image\n`);
    };
    says('one');
    const { id, said } = await run('one');
    expect(await run('two')).toEqual({ id, said: 'one' });
    says('three');
    expect(await run('three')).toEqual({ id: expect.not.stringMatching(`^${id}$`), said: 'three' });
    expect(said).toBe('one');
    await swarm.swarm('cleanup');
    await carrel.ok('down');
    configure('parent');
    await carrel.ok('image', 'build');
  }, 120_000);

  it('fails with one error on a parent image that lacks something and cannot install it', async () => {
    await importParent(dockerd, 'poor', ['node', 'rg']);
    configure('poor');
    const { exitCode, stderr } = await carrel.run(['image', 'build']);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/step 3 of \d .*git, Node, Python.*installing nodejs ripgrep.*no apt-get.*hint: /s);
    configure('nowhere.invalid/nothing');
    const missing = await carrel.run(['image', 'build']);
    expect(missing.exitCode).toBe(75);
    expect(missing.stderr).toMatch(/nowhere.invalid\/nothing, cannot be fetched.*docker import/s);
    configure('parent');
  });
});

describe('a project', () => {
  it('is built on the base, used by the sandbox, and built again only after a change', async () => {
    const made = [`${base} AS made`, 'COPY *.txt dir/ /made/', 'RUN <<EOF', 'cat /made/a.txt > /out', 'EOF'];
    const folder = project({
      [own]: [
        '# syntax=docker/dockerfile:1',
        ...made,
        base,
        'COPY --from=made /out /out',
        'COPY . /all',
        'ENV PATH=/all/bin:$PATH',
        'ENV G=hi',
      ].join('\n'),
      'a.txt': 'content\n',
      'dir/deep/b': 'deep',
      'kept-out': 'secret',
      '.dockerignore': 'kept-out\n.carrel\n',
    });
    put(folder, 'bin/hello', '#!/bin/sh\necho found\n');
    chmodSync(join(folder, 'bin/hello'), 0o755);
    symlinkSync('/etc/hostname', join(folder, 'link'));
    execFileSync('mkfifo', [join(folder, 'dir/pipe')]);
    const first = await build(folder);
    expect(first).toMatchObject({ built: true, image: { project: folder, state: 'ready' } });
    const { name, id } = first.image;
    const script = 'cat /out; ls -A /all /all/dir; stat -c %N /all/link; echo $G; hello';
    expect(await carrel.ok('run', '--rm', ...on(name), '--', 'sh', '-c', script)).toBe(
      "content\n/all:\na.txt\nbin\ndir\nlink\n\n/all/dir:\ndeep\n'/all/link' -> '/etc/hostname'\nhi\nfound\n",
    );
    put(folder, 'kept-out', 'changed');
    expect(await build(folder)).toMatchObject({ built: false, image: { id } });
    put(folder, 'a.txt', 'changed\n');
    const second = await build(folder);
    expect([second.built, second.image.name, second.image.id === id]).toEqual([true, name, false]);
    expect(await inImage(second.image.id, 'cat /out; id -un')).toBe('changed\nagent');
    const kept = await dockerd.docker('images', '-q', '--no-trunc', '--filter', 'label=carrel.image.home');
    expect(kept.split('\n')).not.toContain(id);
  });

  it('gets the image of its detected languages, or the base', async () => {
    const detected = project({
      ...{
        'package.json': '{}',
        'package-lock.json': '{}',
        'requirements.txt': 'x==1\n',
        'Cargo.toml': '',
        'Cargo.lock': '',
      },
      ...{ 'go.mod': 'module x\n', 'secret.env': 'x' },
    });
    const { image, built } = await build(detected);
    expect(built).toBe(true);
    const history = await dockerd.docker('history', '--no-trunc', '--format', '{{.CreatedBy}}', image.id!);
    for (const step of ['npm ci', 'pip install', 'cargo fetch', 'go mod download']) expect(history).toContain(step);
    expect(await inImage(image.id, 'ls -A /opt/carrel; ls /secret.env /package.json 2>&1 | grep -c No')).toBe(
      'bin\nrequirements.txt\n2',
    );
    expect(await carrel.ok('image', 'rm', image.name)).toBe(`${image.name}\n`);
    expect(await dockerd.docker('images', '--quiet', '--no-trunc')).not.toContain(image.id!);
    expect((await carrel.run(['image', 'rm', image.name])).exitCode).toBe(5);
    const nothing = await carrel.run(['image', 'build', project({ 'README.md': 'x' })]);
    expect([nothing.exitCode, nothing.stdout]).toEqual([0, 'carrel-sandbox:base\n']);
    expect(nothing.stderr).toContain('asks for nothing');
  });

  it('is built without output in a pipe, and a failed build names the step and the reason', async () => {
    const good = withDockerfile(base, 'RUN echo noise');
    expect(await carrel.run(['image', 'build', good])).toMatchObject({
      exitCode: 0,
      stderr: '',
      stdout: expect.stringMatching(/^carrel-sandbox-[\w-]+\n$/),
    });
    const bad = withDockerfile(base, '', 'RUN (echo one; \\', '  printf "two\\033[2J\\n") >&2; exit 7');
    const { exitCode, stdout, stderr } = await carrel.run(['image', 'build', bad]);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toBe(
      'carrel: .carrel/Dockerfile.sandbox, line 3: step 2 of 4 failed (exit code 7): ' +
        'RUN (echo one;   printf "two\\033[2J\\n") >&2; exit 7\n  one\n  two\\u001b[2J\n' +
        '  hint: Correct .carrel/Dockerfile.sandbox, and build again.\n',
    );
    expect(await containers()).toBe(0);
  });

  it('is built without access to the host, and with --offline without a network', async () => {
    const script =
      'ls -A / > /seen; ip link > /links; (mount -t tmpfs x /mnt; cat /proc/1/cmdline) > /tried 2>&1; env > /env';
    const { image } = await build(withDockerfile(base, `RUN ${script}`), '--offline');
    const seen = await inImage(image.id, 'cat /seen; echo; cat /links; cat /tried; cat /env');
    expect(seen).not.toMatch(/eth0|docker\.sock|DOCKER_|CARREL_|secret/i);
    expect(seen).toMatch(/mount: .*(denied|permitted)/);
    for (const lines of [
      ['FROM parent'],
      [base, 'COPY --from=parent / /x'],
      [base, 'RUN --mount=type=bind,target=/x true'],
    ]) {
      const { exitCode, stderr } = await carrel.run(['image', 'build', withDockerfile(...lines)]);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`Dockerfile.sandbox, line ${lines.length}: `)]);
    }
    const linked = project({});
    mkdirSync(join(linked, '.carrel'));
    symlinkSync('/etc/passwd', join(linked, own));
    expect((await carrel.run(['image', 'build', linked])).exitCode).toBe(4);
  });
});

describe('a client that waits for a build', () => {
  it('stops the build with Ctrl-C, and the next build begins', async () => {
    const child = carrel.spawn(['image', 'build', withDockerfile(base, 'RUN sleep 300')]);
    await until(async () => (await containers()) === 1, 'the step to run');
    const waiting = carrel.spawn(['image', 'build', withDockerfile(base, 'RUN echo next')]);
    const [stopped, built] = [once(child, 'exit'), once(waiting, 'exit')];
    child.kill('SIGINT');
    expect((await stopped)[0]).toBe(130);
    await until(async () => (await containers()) === 0, 'the step to be gone');
    expect((await built)[0]).toBe(0);
  });

  it('gets an error when the daemon is killed, and the build ends with it', async () => {
    const child = carrel.spawn(['image', 'build', withDockerfile(base, 'RUN sleep 299')]);
    const exit = once(child, 'exit');
    await until(async () => (await containers()) === 1, 'the step to run');
    await carrel.killDaemon();
    expect((await exit)[0]).toBe(75);
    await until(async () => (await containers()) === 0, 'the step to be gone');
  });

  it('sees the steps on a terminal, the last output and the time on one line, and only the name on stdout', async () => {
    const wait = 'until [ -e /go ]; do sleep 0.02; done';
    const folder = withDockerfile(base, `RUN echo shown && ${wait}`, `RUN rm /go && ${wait}`);
    const stdout = join(folder, 'stdout');
    const argv = [process.execPath, '--', carrel.program, 'image', 'build', folder];
    const env = { HOME: carrel.home, CARREL_HOME: carrel.home };
    const terminal = new Terminal(['sh', '-c', `exec "$@" > ${stdout}`, 'sh', ...argv], { env, columns: 120 });
    const done: string[] = [];
    const running = async () => (await dockerd.docker('ps', '-q')).split('\n').find((id) => id && !done.includes(id));
    /** Ends the running step once the screen matches. */
    const next = async (screen: RegExp) => {
      await terminal.shows(screen);
      await until(async () => (await running()) !== undefined, 'the container of the step');
      done.push((await running())!);
      await dockerd.docker('exec', done.at(-1)!, 'touch', '/go');
    };
    const steps = String.raw`^building carrel-sandbox-\S+\s+1/5 FROM carrel-sandbox:base\s+2/5 RUN echo shown [^\n]*\n`;
    try {
      await next(new RegExp(`${steps}\\S shown \\(\\d+s\\)\\s*$`));
      await next(new RegExp(`${steps}3/5 RUN rm /go [^\\n]*\\n\\S step 3 of 5 \\(\\d+s\\)\\s*$`));
      expect(await terminal.ended).toBe(0);
    } finally {
      terminal.kill();
    }
    const rest = '3/5 [^\\n]*\\n4/5 [^\\n]*\\n5/5 [^\\n]*\\nbuilt in \\d+ s; use it with: ';
    expect(terminal.shown).toMatch(new RegExp(steps + rest));
    expect(readFileSync(stdout, 'utf8')).toMatch(/^carrel-sandbox-[\w-]+\n$/);
  });

  it('sees only JSON with --json on a terminal', async () => {
    const terminal = carrelOn(carrel.home, ['--json', 'image', 'build', withDockerfile(base, 'RUN echo in json')]);
    expect(await terminal.ended).toBe(0);
    expect(JSON.parse(terminal.text)).toMatchObject({ built: true });
  });

  it('loses no image when the daemon is killed before the build is recorded', async () => {
    const folder = withDockerfile(base, 'RUN echo once');
    await carrel.ok('down');
    const child = carrel.spawn(['image', 'build', folder], { CARREL_CRASH_AT: 'image:built' });
    expect((await once(child, 'exit'))[0]).toBe(75);
    const made = async () => (await dockerd.docker('images', '-aq')).split('\n').sort();
    const before = await made();
    expect(await build(folder)).toMatchObject({ built: false, image: { state: 'ready' } });
    expect(await made()).toEqual(before);
  });
});

describe('--image', () => {
  const run = (name: string, env: Readonly<Record<string, string>> = {}) =>
    carrel.run(['run', '--rm', ...on(name), '--', 'true'], { env });

  it('takes a listed image, in the version that was first used', async () => {
    expect((await run(plainImage)).exitCode).toBe(4);
    configure('parent', [plainImage]);
    await carrel.ok('create', '--name', 'pinned', ...on(plainImage));
    const id = await dockerd.docker('image', 'inspect', '-f', '{{.Id}}', plainImage);
    expect((await carrel.show('pinned')).image).toEqual({ name: plainImage, id });
    await dockerd.docker('tag', 'parent', plainImage);
    const { exitCode, stderr } = await run(plainImage);
    const other = await dockerd.docker('image', 'inspect', '-f', '{{.Id}}', 'parent');
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining(`images: [${plainImage}@${other}]`)]);
    expect(await carrel.json<ImageView[]>('image', 'ls')).toContainEqual(
      expect.objectContaining({ name: plainImage, source: 'listed', id, state: 'moved' }),
    );
    await carrel.ok('stop', '--grace', '0', 'pinned');
    await carrel.ok('start', 'pinned');
    const [container] = (await dockerd.docker('ps', '-q', '--filter', 'name=carrel-')).split('\n');
    expect(await dockerd.docker('inspect', '-f', '{{.Image}}', container!)).toBe(id);
    configure('parent', [`${plainImage}@${other}`]);
    expect((await run(plainImage)).exitCode).toBe(0);
    await carrel.ok('rm', '--force', 'pinned');
  });

  it('takes images that the owner built; other users take only listed images and cannot build', async () => {
    configure('parent');
    const { image } = await build(withDockerfile(base));
    const { token } = await carrel.json<{ token: string }>('user', 'add', 'bob');
    carrel.write('token', token);
    const bob = { CARREL_TOKEN_FILE: join(dirname(carrel.home), 'token') };
    expect((await run(image.name, bob)).exitCode).toBe(4);
    const tried = await carrel.run(['image', 'build', withDockerfile(base)], { env: bob });
    expect([tried.exitCode, tried.stderr]).toEqual([4, expect.stringContaining('only the owner')]);
    expect(JSON.parse((await carrel.run(['--json', 'image', 'ls'], { env: bob })).stdout)).toEqual([]);
    configure('parent', [image.name]);
    expect((await run(image.name, bob)).exitCode).toBe(0);
    await dockerd.docker('tag', 'parent', image.name);
    expect((await run(image.name)).exitCode).toBe(0);
  });

  it('fails with one error without a Docker Engine', async () => {
    writeFileSync(join(carrel.home, 'config.yaml'), '{docker: {socket: /nonexistent/docker.sock}}');
    await carrel.ok('down');
    for (const args of [
      ['image', 'build'],
      ['image', 'ls'],
    ]) {
      const { exitCode, stderr } = await carrel.run(args);
      expect([exitCode, stderr]).toEqual([
        75,
        expect.stringContaining('no Docker Engine answers at /nonexistent/docker.sock'),
      ]);
    }
    configure('parent');
    await carrel.ok('down');
  });
});
