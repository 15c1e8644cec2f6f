/** What keeps an installation tidy: bounded logs, many sandboxes at once, the audit log. */
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gather, Installation, isRunning, until } from '../harness/installation.ts';

const MiB = 1024 ** 2;
/** Reads numbers and writes lines up to each of them; 0 ends it. */
const writer = `mkfifo /tmp/go; exec 3<>/tmp/go; i=0; echo ready
while read n <&3 && [ $n -gt 0 ]; do while [ $i -lt $n ]; do i=$((i+1)); echo "line $i ${'x'.repeat(120)}"; done; done`;
const numbersIn = (text: string) => [...text.matchAll(/^line (\d+)/gm)].map(([, n]) => Number(n));
const isUnbroken = (numbers: readonly number[]) => numbers.every((n, index) => n === numbers[0]! + index);

describe('the output of a sandbox', () => {
  let carrel: Installation;
  beforeAll(() => {
    carrel = new Installation();
    writeFileSync(join(carrel.home, 'config.yaml'), 'logs: {size: 2m, files: 3}\n');
  });
  afterAll(() => carrel.dispose());

  const bytesOf = (id: string) => {
    const folder = join(carrel.home, 'engine/run', id);
    const inodes = new Map(readdirSync(folder).map((name) => [statSync(join(folder, name)).ino, join(folder, name)]));
    return [...inodes.values()].reduce((sum, path) => sum + statSync(path).size, 0);
  };

  it('is bounded, its newest lines are kept without a gap, and a follower gets every line', async () => {
    await carrel.ok('create', '--name', 'flood', '--', 'sh', '-c', writer);
    const { id } = await carrel.show('flood');
    const follower = carrel.spawn(['logs', '-f', 'flood']);
    const followed = gather(follower.stdout!);
    const closed = once(follower, 'close');
    const write = (...lines: number[]) =>
      carrel.ok('exec', 'flood', '--', 'sh', '-c', `echo '${lines.join('\n')}' > /tmp/go`);
    await until(() => followed().includes('ready'), 'the writer to be ready');
    // Each batch makes the log rotate at most once: a follower loses lines that rotate away before it reads them.
    for (const lines of [11_000, 22_000, 33_000, 44_000, 55_000]) {
      await write(lines);
      await until(() => followed().includes(`line ${lines} `), `the follower to see line ${lines}`);
    }
    await write(60_000, 0);
    await carrel.ok('wait', 'flood');
    await closed;
    const seen = numbersIn(followed());
    expect([seen.length, isUnbroken(seen)]).toEqual([60_000, true]);
    expect(bytesOf(id)).toBeGreaterThan(4 * MiB);
    expect(bytesOf(id)).toBeLessThan(6.1 * MiB);
    const kept = numbersIn(await carrel.ok('logs', 'flood'));
    expect([kept.at(-1), isUnbroken(kept)]).toEqual([60_000, true]);
    expect(kept.length).toBeGreaterThan(10_000);
    expect(numbersIn(await carrel.ok('logs', '--tail', '3', 'flood'))).toEqual([59_998, 59_999, 60_000]);
  });

  it('is bounded also while no daemon runs, and the newest lines are kept', async () => {
    const lines = `i=0; while [ $i -lt 100000 ]; do i=$((i+1)); echo "line $i ${'x'.repeat(120)}"; done`;
    await carrel.script('away', `sleep 0.3; ${lines}`);
    const { id } = await carrel.show('away');
    await carrel.killDaemon();
    await until(() => existsSync(join(carrel.home, 'engine/exit', id)), 'it to end');
    expect(bytesOf(id)).toBeLessThan(7.1 * 2 * MiB);
    const kept = numbersIn(await carrel.ok('logs', 'away'));
    expect(kept.at(-1)).toBe(100_000);
    const gaps = kept.filter((n, index) => index > 0 && n !== kept[index - 1]! + 1);
    expect(gaps.length).toBeLessThanOrEqual(1);
  });

  it.each(['output:copied', 'clear:kept'])(
    'of earlier starts stays, also when the daemon is killed at %s',
    async (point) => {
      await carrel.ok('down');
      await carrel.run(['up', '-d'], { env: { CARREL_CRASH_AT: point } });
      const name = point.replace(':', '-');
      const count = 'echo >> /home/agent/starts; echo start $(wc -l < /home/agent/starts)';
      await carrel.script(name, count);
      await carrel.ok('wait', name);
      expect((await carrel.run(['start', name])).exitCode).not.toBe(0);
      const logged = () => carrel.ok('logs', name);
      await until(async () => (await logged()) === 'start 1\nstart 2\n', 'what was begun to be done');
      await carrel.ok('wait', name);
      await carrel.ok('start', name);
      await carrel.ok('wait', name);
      expect(await logged()).toBe('start 1\nstart 2\nstart 3\n');
      expect(await carrel.ok('logs', '--tail', '2', name)).toBe('start 2\nstart 3\n');
    },
  );
});

describe('a daemon', () => {
  let carrel: Installation;
  beforeAll(() => {
    carrel = new Installation();
  });
  afterAll(() => carrel.dispose());

  interface Entry {
    readonly seq: number;
    readonly user: string;
    readonly verb: string;
    readonly outcome: string;
    readonly targets: readonly { readonly name: string; readonly id?: string }[];
    readonly peer: { readonly uid: number; readonly pid: number };
  }
  const audit = async (...args: string[]) => {
    const lines = (await carrel.ok('--json', 'audit', ...args)).trimEnd().split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Entry);
  };
  const told = (entries: readonly Entry[]) =>
    entries.map(({ verb, targets, outcome }) => [verb, ...targets.map(({ name }) => name), outcome].join(' '));

  it('rotates its log when it is full', async () => {
    writeFileSync(join(carrel.home, 'daemon.log'), Buffer.alloc(11 * MiB, 'x'), { mode: 0o600 });
    await carrel.ok('up', '-d');
    expect(statSync(join(carrel.home, 'daemon.log')).size).toBeLessThan(10_000);
    expect(statSync(join(carrel.home, 'daemon.log.1')).size).toBe(11 * MiB);
  });

  it('stop --all stops every sandbox, and rm --stale keeps those with changes that were not applied', async () => {
    const project = carrel.folder('project');
    writeFileSync(join(project, 'file'), 'x\n');
    await carrel.ok('create', '--name', 'works', project);
    await carrel.ok('create', '--name', 'idles');
    await carrel.ok('exec', 'works', '--', 'sh', '-c', 'echo y >> file');
    expect((await carrel.ok('stop', '--all', '--grace', '0')).split('\n').sort()).toEqual(['', 'idles', 'works']);
    expect(await carrel.ok('stop', '--all')).toBe('');
    await carrel.ok('create', '--name', 'runs');
    expect(await carrel.ok('rm', '--stale', '1h', '--yes')).toBe('');
    const old = async () => (await carrel.run(['rm', '--stale', '1s', '--yes'])).stdout === 'idles\n';
    await until(old, 'a second to pass');
    const { stdout, stderr, exitCode } = await carrel.run(['rm', '--stale', '1s', '--yes']);
    expect([stdout, exitCode]).toEqual(['', 0]);
    expect(stderr).toContain('kept works: works has changes that were not applied');
    expect(await carrel.ok('rm', '--stale', '1s', '--yes', '--force')).toBe('works\n');
    expect((await carrel.show('runs')).state).toBe('running');
  });

  it('writes every act to the audit log, with uid and pid of the caller', async () => {
    const child = carrel.spawn(['stop', 'runs', '--grace', '0']);
    await until(() => child.exitCode !== null, 'the stop');
    const entries = await audit();
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
    expect(told(entries)).toContain('sandbox.create works ok');
    expect(told(entries)).toContain('sandbox.exec works ok');
    expect(told(entries)).toContain('sandbox.remove works conflict');
    expect(entries.at(-1)).toMatchObject({
      verb: 'sandbox.stop',
      peer: { uid: expect.any(Number), pid: child.pid },
      targets: [{ name: 'runs', id: (await carrel.show('runs')).id }],
    });
    const follower = carrel.spawn(['--json', 'audit', '--follow', '--after', String(entries.at(-1)!.seq)]);
    const followed = gather(follower.stdout!);
    await carrel.ok('start', 'runs');
    await until(() => followed().includes('sandbox.start'), 'the follower to see it');
    follower.kill();
  });

  it.each([
    ['audit:begun', 'cut_short'],
    ['audit:done', 'cut_short'],
    ['audit:written', 'ok'],
  ])('that is killed at %s writes one line for the request that it was working on', async (point, outcome) => {
    await carrel.ok('down');
    await carrel.run(['up', '-d'], { env: { CARREL_CRASH_AT: point } });
    const last = readFileSync(join(carrel.home, 'audit/audit.log'), 'utf8').split('\n').length - 1;
    expect((await carrel.run(['secret', 'set', 'KEY'], { input: 'value' })).exitCode).not.toBe(0);
    expect(told(await audit('--after', String(last)))).toEqual([`secret.set KEY ${outcome}`]);
  });
});

it('a daemon ends when its home is gone, and stops no sandbox', async () => {
  const carrel = new Installation();
  await carrel.ok('create', '--name', 'box', '--', 'sleep', 'infinity');
  const pid = carrel.daemonPid;
  const away = `${carrel.home}-away`;
  renameSync(carrel.home, away);
  await until(() => !isRunning(pid), 'the daemon to leave');
  renameSync(away, carrel.home);
  expect((await carrel.show('box')).state).toBe('running');
  await carrel.dispose();
});
