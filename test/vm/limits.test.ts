/**
 * The unified hierarchy with all its controllers, as root and as an ordinary user whose systemd continues after logout.
 */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Installation } from '../harness/installation.ts';
import { dev, installation, people } from './machine.ts';

interface Row {
  readonly name: string;
  readonly level: string;
  readonly detail: string;
  readonly hint: string | null;
}

interface Used {
  readonly name: string;
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  readonly pids: number;
}

const MiB = 1024 ** 2;
const lingering = '/var/lib/systemd/linger/dev';

const python = (text: string): string[] => ['python3', '-c', text];
const take = (bytes: number): string[] => python(`block = bytearray(b'x') * ${bytes}`);

const forks = `
import os, time
for count in range(200):
    try:
        if os.fork() == 0: time.sleep(600)
    except OSError as refusal:
        print(count, refusal.strerror)
        break
`;

/** Prints the processor time of two loops, and how long they took. */
const spin = `
import os, time
began, before = time.monotonic(), sum(os.times()[:4])
child = os.fork()
while time.monotonic() < began + 4: pass
if child == 0: os._exit(0)
os.wait()
print(sum(os.times()[:4]) - before, time.monotonic() - began)
`;

/** The control groups of sandboxes on the whole machine. */
function groups(): string[] {
  const found = execFileSync('find', ['/sys/fs/cgroup', '-type', 'd'], { encoding: 'utf8' });
  return found.split('\n').filter((path) => /\/carrel-[^/]+\/[0-9a-f]{16}$/.test(path));
}

describe.each(people)('%s', (_, account) => {
  let carrel: Installation;
  beforeAll(async () => {
    carrel = await installation(account);
  });
  afterAll(() => carrel.dispose());

  const used = async (name: string): Promise<Used> =>
    (await carrel.json<Used[]>('stats')).find((one) => one.name === name)!;

  it('doctor reports no problem', async () => {
    const { stdout, stderr } = await carrel.run(['--json', 'doctor']);
    expect(stderr).toBe('');
    const rows = JSON.parse(stdout) as Row[];
    expect(rows.filter(({ level }) => level !== 'ok')).toEqual([]);
    expect(rows).toContainEqual(expect.objectContaining({ detail: 'v2, enforced: cpu, memory, pids, swap' }));
  });

  it('memory: a command above its limit is killed, and the reason is recorded', async () => {
    await carrel.ok('create', '--name', 'glutton', '--memory', '64m', '--swap', '64m', '--', ...take(256 * MiB));
    await carrel.ok('wait', 'glutton');
    expect(await carrel.show('glutton')).toMatchObject({ state: 'failed', reason: 'oom' });
  });

  it('swap: a command can use memory and swap together up to the limit, and no more', async () => {
    const limits = ['--memory', '64m', '--swap', '192m'];
    expect(await carrel.run(['run', '--rm', ...limits, '--', ...take(128 * MiB)])).toMatchObject({ exitCode: 0 });
    expect(await carrel.run(['run', '--rm', ...limits, '--', ...take(256 * MiB)])).toMatchObject({ exitCode: 137 });
  });

  it('pids: a process above the limit is refused', async () => {
    const said = await carrel.ok('run', '--rm', '--pids', '64', '--', ...python(forks));
    expect(said).toMatch(/^(5\d|6[0-3]) Resource temporarily unavailable\n$/);
  });

  it('cpu: two loops share half a processor, and stats shows their use', async () => {
    await carrel.ok('create', '--name', 'busy', '--cpus', '0.5', '--', 'sleep', 'infinity');
    const before = await used('busy');
    expect(before).toMatchObject({ pids: 2 });
    expect(before.memoryBytes).toBeGreaterThan(0);
    expect(await carrel.ok('exec', 'busy', '--', 'cat', '/proc/self/oom_score_adj')).toBe('500\n');
    const [seconds, took] = (await carrel.ok('exec', 'busy', '--', ...python(spin))).split(' ').map(Number);
    expect(seconds).toBeGreaterThan(0.5);
    expect(seconds).toBeLessThan(0.5 * took! + 0.3);
    expect((await used('busy')).cpuSeconds - before.cpuSeconds).toBeGreaterThan(seconds! - 0.1);
  });

  it('a daemon that was killed finds the groups again, and removes them', async () => {
    await carrel.killDaemon();
    expect(await used('busy')).toMatchObject({ pids: 2 });
    await carrel.ok('create', '--name', 'later', '--memory', '64m', '--', 'sleep', 'infinity');
    expect(await used('later')).toMatchObject({ pids: 2 });
    expect(groups()).toHaveLength(2);
    await carrel.ok('snapshot', 'busy');
    await carrel.ok('rm', '--force', 'busy', 'later');
    expect(groups()).toEqual([]);
  });
});

describe('an ordinary user whose systemd ends at logout', () => {
  let carrel: Installation;
  beforeAll(async () => {
    rmSync(lingering);
    carrel = await installation(dev);
  });
  afterAll(async () => {
    await carrel.dispose();
    writeFileSync(lingering, '');
  });

  it('gets a refusal of --strict for limits that cannot be enforced, and a hint from doctor', async () => {
    const { exitCode, stderr } = await carrel.run(['run', '--rm', '--strict', '--memory', '64m', '--', 'true']);
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining('cannot enforce')]);
    const { stdout } = await carrel.run(['--json', 'doctor']);
    const row = (JSON.parse(stdout) as Row[]).find(({ name }) => name === 'cgroups');
    expect(row).toMatchObject({ level: 'warning', hint: expect.stringContaining('loginctl enable-linger dev') });
  });
});
