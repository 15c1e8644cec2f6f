/** The life of a sandbox through the real CLI and daemon. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { processRef } from '../../src/lib/process/process.ts';
import { gather, Installation, type SandboxView, until } from '../harness/installation.ts';
import { isRealRoot } from '../harness/machine.ts';

let carrel: Installation;

beforeAll(() => {
  carrel = new Installation();
});
afterAll(() => carrel.dispose());
afterEach(async () => {
  const names = (await carrel.json<SandboxView[]>('ls')).map(({ name }) => name);
  // A sandbox with --rm may remove itself meanwhile.
  if (names.length > 0) expect([0, 5]).toContain((await carrel.run(['rm', '--force', ...names])).exitCode);
});

async function stopRequested(id: string): Promise<void> {
  const isRequested = (line: string) => line.includes('"sandbox.stop_requested"') && line.includes(id);
  const requested = async () => (await carrel.ok('--json', 'events')).split('\n').some(isRequested);
  await until(requested, 'the stop to be requested');
}

/** Lets the command of the sandbox continue; if that command ends, the exec may end with it. */
const letGo = () => carrel.run(['exec', 'a', '--', 'touch', 'go']);

describe('run', () => {
  it('passes output, errors and the exit code through', async () => {
    const outcome = await carrel.run(['run', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3']);
    expect(outcome).toEqual({ exitCode: 3, stdout: 'out\n', stderr: 'err\n' });
  });

  it('names the sandbox in the first line of --json', async () => {
    const lines = (await carrel.ok('--json', 'run', '--name', 'told', '--', 'echo', 'hi')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { stream: 'sandbox', name: 'told', id: (await carrel.show('told')).id },
      { stream: 'stdout', text: 'hi\n' },
      expect.objectContaining({ stream: 'exit', exitCode: 0 }),
    ]);
  });

  it('passes input through to its end', async () => {
    const input = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const { stdout } = await carrel.run(['run', '--rm', '--', 'sha256sum'], { input });
    expect(stdout).toContain(createHash('sha256').update(input).digest('hex'));
  });

  it('loses no byte of a large output that is read late', async () => {
    const child = carrel.spawn(['run', '--rm', '--', 'sh', '-c', 'yes carrel | head -c 20000000']);
    child.stdin!.end();
    await once(child.stdout!, 'readable');
    let bytes = 0;
    for await (const chunk of child.stdout!) bytes += (chunk as Buffer).length;
    expect(bytes).toBe(20_000_000);
  });

  it('says what ended a command', async () => {
    expect(await carrel.run(['run', '--name', 'a', '--', 'sh', '-c', 'kill -9 $$'])).toMatchObject({ exitCode: 137 });
    expect(await carrel.show('a')).toMatchObject({ state: 'failed', reason: 'killed by SIGKILL' });
    for (const command of [
      ['run', '--rm'],
      ['exec', 'there'],
    ]) {
      if (command[0] === 'exec') await carrel.ok('create', '--name', 'there');
      const { exitCode, stdout, stderr } = await carrel.run([...command, '--', 'nosuch']);
      expect([exitCode, stdout]).toEqual([127, '']);
      expect(stderr).toMatch(/^carrel: there is no program nosuch in the sandbox\n {2}\w+: .*\.\/nosuch\n$/);
    }
    await carrel.ok('create', '--name', 'never', '--', 'nosuch');
    await carrel.run(['wait', 'never']);
    const logs = await carrel.run(['logs', 'never']);
    expect(logs).toMatchObject({ exitCode: 0, stdout: '', stderr: expect.stringContaining('no program nosuch') });
  });

  it('removes with --rm, also when the client is killed', async () => {
    await carrel.ok('run', '--rm', '--', 'true');
    await until(async () => (await carrel.json<SandboxView[]>('ls')).length === 0, 'the sandbox to be gone');
    const child = carrel.spawn(['run', '--rm', '--', 'sh', '-c', 'echo ready; sleep 0.3']);
    await once(child.stdout!, 'data');
    child.kill('SIGKILL');
    await until(async () => (await carrel.json<SandboxView[]>('ls')).length === 0, 'the sandbox to be gone');
  });

  it('stops on Ctrl-C', async () => {
    const child = carrel.spawn([
      'run',
      '--name',
      'a',
      '--',
      'sh',
      '-c',
      'trap "echo bye; exit 0" TERM; echo ready; while :; do sleep 0.05; done',
    ]);
    await once(child.stdout!, 'data');
    child.kill('SIGINT');
    const [code] = (await once(child, 'close')) as [number];
    expect(code).toBe(130);
    expect(await carrel.show('a')).toMatchObject({ state: 'stopped' });
  });

  it('asks for a stop without a grace time on the second Ctrl-C', async () => {
    const child = carrel.spawn([
      'run',
      '--name',
      'a',
      '--',
      'sh',
      '-c',
      'trap "" TERM; echo ready; while :; do sleep 0.05; done',
    ]);
    await once(child.stdout!, 'data');
    child.kill('SIGINT');
    const { id } = await carrel.show('a');
    await stopRequested(id);
    child.kill('SIGINT');
    await once(child, 'close');
    expect(await carrel.show('a')).toMatchObject({ state: 'stopped', exitCode: 137 });
    const acts = (await carrel.ok('--json', 'audit')).trimEnd().split('\n');
    const stops = acts
      .map((line) => JSON.parse(line))
      .filter((act) => act.verb === 'sandbox.stop' && act.targets[0].id === id);
    expect(stops.map(({ detail }) => detail?.graceMs)).toEqual(expect.arrayContaining([undefined, 0]));
    expect(stops).toHaveLength(2);
  });

  it('continues when its client is killed', async () => {
    const child = carrel.spawn(['run', '--name', 'a', '--', 'sh', '-c', 'echo ready; exec sleep infinity']);
    await once(child.stdout!, 'data');
    child.kill('SIGKILL');
    await once(child, 'close');
    expect((await carrel.show('a')).state).toBe('running');
  });
});

it('a shell ends when its piped input ends', async () => {
  await carrel.ok('create', '--name', 'a', '--', 'sleep', 'infinity');
  expect(await carrel.run(['shell', 'a'], { input: 'echo "$PWD"; exit 3\n' })).toMatchObject({
    exitCode: 3,
    stdout: '/home/agent\n',
  });
  expect(await carrel.run(['shell', 'a'])).toMatchObject({ exitCode: 0, stdout: '' });
});

describe('exec', () => {
  it('has its own streams, environment, folder and exit code', async () => {
    await carrel.ok('create', '--name', 'a', '--env', 'COLOUR=red');
    const script = 'echo $COLOUR $SIZE; pwd; cat; echo err >&2; exit 4';
    const outcome = await carrel.run(['exec', '-i', '--env', 'SIZE=big', '-w', '/tmp', 'a', '--', 'sh', '-c', script], {
      input: 'in\n',
    });
    expect(outcome).toEqual({ exitCode: 4, stdout: 'red big\n/tmp\nin\n', stderr: 'err\n' });
  });

  it('passes Ctrl-C on to the command', async () => {
    await carrel.ok('create', '--name', 'a');
    const child = carrel.spawn([
      'exec',
      'a',
      '--',
      'sh',
      '-c',
      'trap "echo caught; exit 9" INT; echo ready; while :; do sleep 0.05; done',
    ]);
    const output = gather(child.stdout!);
    await once(child.stdout!, 'data');
    child.kill('SIGINT');
    const [code] = (await once(child, 'close')) as [number];
    expect([code, output()]).toEqual([9, 'ready\ncaught\n']);
  });

  it('leaves the command running when the client is killed, and with --bound ends it', async () => {
    await carrel.ok('create', '--name', 'a');
    const runs = async (seconds: number) =>
      (await carrel.run(['exec', 'a', '--', 'pgrep', '-f', `sleep ${seconds}`])).exitCode === 0;
    const leave = async (seconds: number, ...options: string[]) => {
      const child = carrel.spawn(['exec', ...options, 'a', '--', 'sh', '-c', `echo ready; exec sleep ${seconds}`]);
      await once(child.stdout!, 'data');
      child.kill('SIGKILL');
    };
    await leave(4242);
    await leave(4343, '--bound');
    await until(async () => !(await runs(4343)), 'the one that is bound to end');
    expect(await runs(4242)).toBe(true);
  });

  it('reports a missing command on a terminal, too', async () => {
    await carrel.ok('create', '--name', 'a');
    const { exitCode, stderr } = await carrel.run(['exec', '-t', 'a', '--', '/no/such/program']);
    expect(stderr).toContain('there is no program /no/such/program in the sandbox');
    expect(exitCode).toBe(127);
  });

  it('gives the command a terminal that knows its size', async () => {
    await carrel.ok('create', '--name', 'a');
    const { stdout } = await carrel.run(['exec', '-t', 'a', '--', 'sh', '-c', 'test -t 1 && stty size']);
    expect(stdout).toMatch(/^\d+ \d+\r\n$/);
  });
});

describe('stop and start', () => {
  it('keep home and data, and no file of /tmp', async () => {
    await carrel.ok('create', '--name', 'a');
    await carrel.ok('exec', 'a', '--', 'sh', '-c', 'for d in ~ /.data /tmp; do echo kept > $d/note; done');
    await carrel.ok('stop', 'a');
    await carrel.ok('start', 'a');
    expect(await carrel.ok('exec', 'a', '--', 'sh', '-c', 'cat ~/note /.data/note; ls /tmp')).toBe('kept\nkept\n');
  });

  it('stop sends SIGTERM, waits, then sends SIGKILL', async () => {
    await carrel.script('a', 'trap "" TERM; echo ready; while :; do sleep 0.05; done');
    await until(async () => (await carrel.ok('logs', 'a')) === 'ready\n', 'the command to be ready');
    await carrel.ok('stop', '--grace', '0.2', 'a');
    expect(await carrel.show('a')).toMatchObject({ state: 'stopped', exitCode: 137 });
  });

  it('a second stop with a shorter grace time ends the first one', async () => {
    await carrel.script('a', 'trap "" TERM; echo ready; while :; do sleep 0.05; done');
    await until(async () => (await carrel.ok('logs', 'a')) === 'ready\n', 'the command to be ready');
    const firstEnded = once(carrel.spawn(['stop', '--grace', '600', 'a']), 'close');
    await stopRequested((await carrel.show('a')).id);
    await carrel.ok('stop', '--grace', '0', 'a');
    expect((await firstEnded)[0]).toBe(0);
    expect(await carrel.show('a')).toMatchObject({ state: 'stopped', exitCode: 137 });
  });

  it('restart stops running sandboxes, starts them and ended ones, and names those that it could not start', async () => {
    await carrel.ok('create', '--name', 'a');
    await carrel.ok('create', '--name', 'b');
    await carrel.ok('stop', '--grace', '0', 'b');
    const before = (await carrel.show('a')).startedAt;
    const { exitCode, stdout, stderr } = await carrel.run(['restart', '--grace', '0', 'a', 'b', 'none']);
    expect([exitCode, stdout, stderr]).toEqual([5, 'a\nb\n', expect.stringContaining('no sandbox none')]);
    expect(await carrel.show('b')).toMatchObject({ state: 'running' });
    expect((await carrel.show('a')).startedAt).not.toBe(before);
  });

  it('a sandbox reaps processes that its command left behind', async () => {
    await carrel.script('a', '(sleep 0.1 & echo $! > /tmp/orphan); exec sleep infinity');
    // A process that is not reaped is still listed.
    const look = ['exec', 'a', '--', 'sh', '-c', '[ -s /tmp/orphan ] && [ ! -e /proc/$(cat /tmp/orphan) ]'];
    await until(async () => (await carrel.run(look)).exitCode === 0, 'the orphan to be gone');
  });
});

describe('logs', () => {
  it('keep streams apart, follow and take the last lines', async () => {
    await carrel.script(
      'a',
      'echo one; echo two >&2; printf three; until [ -e go ]; do sleep 0.05; done; echo; echo four',
    );
    const said = async () => {
      const { stdout, stderr } = await carrel.run(['logs', 'a']);
      return stdout.includes('three') && stderr.includes('two');
    };
    await until(said, 'the first lines');
    expect(await carrel.run(['logs', 'a'])).toEqual({ exitCode: 0, stdout: 'one\nthree', stderr: 'two\n' });
    const follower = carrel.spawn(['logs', '-f', 'a']);
    const seen = gather(follower.stdout!);
    const closed = once(follower, 'close');
    await letGo();
    await closed;
    expect(seen()).toBe('one\nthree\nfour\n');
    expect((await carrel.run(['logs', '--tail', '1', 'a'])).stdout).toBe('four\n');
  });

  it('stay bounded, and every follower gets the last line', async () => {
    writeFileSync(join(carrel.home, 'config.yaml'), 'logs: {size: 64k}\n');
    await carrel.ok('down');
    await carrel.script(
      'a',
      'until [ -e go ]; do sleep 0.02; done; i=0; while [ $i -lt 9000 ]; do echo line $i; i=$((i+1)); done',
    );
    const follower = carrel.spawn(['logs', '-f', 'a']);
    const seen = gather(follower.stdout!);
    const closed = once(follower, 'close');
    await letGo();
    await closed;
    const last = seen().trimEnd().split('\n').at(-1);
    expect(last).toBe('line 8999');
    const { id } = await carrel.show('a');
    const kept = ['log', 'log.1', 'log.2'].map(
      (name) => statSync(join(carrel.home, 'engine/run', id, name), { throwIfNoEntry: false })?.size ?? 0,
    );
    expect(Math.max(...kept)).toBeLessThan(70_000);
    expect((await carrel.run(['logs', '--tail', '1', 'a'])).stdout).toBe('line 8999\n');
    writeFileSync(join(carrel.home, 'config.yaml'), '');
    await carrel.ok('down');
  });
});

describe('attach', () => {
  it('shows output from now on, and leaves the command running when it ends', async () => {
    await carrel.script('a', 'i=0; while :; do echo tick $i; i=$((i+1)); sleep 0.05; done');
    const child = carrel.spawn(['attach', 'a']);
    const [first] = (await once(child.stdout!, 'data')) as [Buffer];
    expect(first.toString()).toContain('tick');
    child.kill('SIGINT');
    await once(child, 'close');
    expect((await carrel.show('a')).state).toBe('running');
  });
});

describe('down', () => {
  it('leaves sandboxes running, and with --all stops them', async () => {
    await carrel.ok('create', '--name', 'a');
    await carrel.ok('down');
    expect((await carrel.show('a')).state).toBe('running');
    expect(await carrel.ok('down', '--all')).toContain('stopped a');
    expect((await carrel.show('a')).state).toBe('stopped');
  });
});

describe('cp', () => {
  it('copies both ways, whatever the name of the file', async () => {
    const folder = carrel.folder('files');
    mkdirSync(join(folder, 'tree/deep'), { recursive: true });
    writeFileSync(join(folder, 'tree/deep/with space\nand newline'), 'content');
    await carrel.ok('create', '--name', 'a');
    await carrel.ok('cp', join(folder, 'tree'), 'a:/home/agent/');
    expect(await carrel.ok('exec', 'a', '--', 'sh', '-c', 'cat ~/tree/deep/with*')).toBe('content');
    await carrel.ok('cp', 'a:/home/agent/tree', join(folder, 'back'));
    expect(readFileSync(join(folder, 'back/deep/with space\nand newline'), 'utf8')).toBe('content');
  });
});

describe('a root filesystem of its own', () => {
  it('is used read-only, as a directory and as a tarball', async () => {
    const folder = carrel.folder('rootfs');
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin/busybox'), readFileSync('/bin/busybox'), { mode: 0o755 });
    for (const name of ['sh', 'cat', 'touch', 'sleep', 'ls'])
      execFileSync('ln', ['-s', 'busybox', join(folder, 'bin', name)]);
    writeFileSync(join(folder, 'marker'), 'my own\n');
    const archive = join(carrel.folder('archive'), 'root.tar.gz');
    execFileSync('tar', ['-C', folder, '-czf', archive, '.']);
    for (const rootfs of [folder, archive]) {
      const script = 'cat /marker; ls /usr; touch /x 2>&1 || echo read-only; ls -d /home/agent';
      const { stdout, stderr } = await carrel.run(['run', '--rm', '--rootfs', rootfs, '--', 'sh', '-c', script]);
      expect(stderr).toBe('');
      expect(stdout).toBe('my own\ntouch: /x: Read-only file system\nread-only\n/home/agent\n');
    }
  });
});

describe('what is shown', () => {
  it('ls shows a sandbox as failed right after its processes were killed', async () => {
    for (const name of ['alone', 'both', 'lives']) await carrel.ok('create', '--name', name);
    const kill = async (name: string, ...files: string[]) => {
      const { id } = await carrel.show(name);
      const pids = files.map((file) => Number(readFileSync(join(carrel.home, 'engine/run', id, file), 'utf8')));
      for (const pid of pids) process.kill(pid, 'SIGKILL');
      await until(() => !pids.some((pid) => processRef(pid)), `the processes of ${name} to end`);
    };
    const states = async () =>
      Object.fromEntries((await carrel.list()).map((one) => [one.name, [one.state, one.reason]]));
    const lives = { lives: ['running', null] };
    expect(await states()).toEqual({ ...lives, alone: ['running', null], both: ['running', null] });
    await kill('alone', 'pid');
    expect(await states()).toMatchObject({ ...lives, alone: ['failed', 'killed by SIGKILL'] });
    await kill('both', 'keeper.pid', 'pid');
    expect(await states()).toMatchObject({ ...lives, both: ['failed', 'lost'] });
  });

  it.runIf(isRealRoot)('wait prints the exit code, stats shows usage and limits, events has the failure', async () => {
    await carrel.ok(
      'create',
      '--name',
      'a',
      '--cpus',
      '0.5',
      '--memory',
      '64m',
      '--pids',
      '32',
      '--',
      'sh',
      '-c',
      'until [ -e go ]; do sleep 0.05; done; exit 5',
    );
    const waiting = carrel.run(['wait', 'a']);
    const [stats] = await carrel.json<Record<string, number>[]>('stats');
    expect(stats).toMatchObject({ name: 'a', memoryLimitBytes: 64 * 1024 ** 2, pidsLimit: 32, cpus: 0.5 });
    expect(stats!.memoryBytes).toBeGreaterThan(0);
    await letGo();
    expect(await waiting).toMatchObject({ exitCode: 0, stdout: '5\n' });
    const events = (await carrel.ok('--json', 'events'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    expect(events.map(({ type }) => type)).toContain('sandbox.failed');
  });

  it('show --json has the documented fields', async () => {
    await carrel.ok('create', '--name', 'a', '--label', 'team=blue');
    const view = await carrel.json<Record<string, unknown>>('show', 'a');
    for (const field of 'id name project user engine runtime state exitCode reason createdAt startedAt finishedAt limits mounts network labels'.split(
      ' ',
    )) {
      expect(view).toHaveProperty(field);
    }
    expect(view).toMatchObject({
      network: { allow: [], ports: [] },
      labels: { team: 'blue' },
      limits: { cpus: 2, pids: 512 },
    });
  });
});
