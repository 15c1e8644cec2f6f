// @needs root
// @takes 35 s
/** What a sandbox can take of the machine: memory, processors, processes, /tmp. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/model/event.ts';
import {
  attackCommand,
  attacker,
  everyWay,
  processesNaming,
  type Testbed,
  type Way,
} from '../fixtures/attacks/testbed.ts';
import { type Installation, until } from '../harness/installation.ts';

const MiB = 1024 ** 2;

const devour = ['python3', '-c', `block = b'x' * ${512 * MiB}`];

interface Filled {
  readonly size: number;
  readonly written: number;
  readonly outcome: string;
  readonly beyond: string;
}

everyWay('limits', (testbed, way) => {
  if (way !== 'rootless') memory(testbed, way);
  if (way !== 'rootless') processors(testbed);
  if (way === 'rootless') refusals(testbed);
  processCount(testbed);
  temporaryFiles(testbed, way === 'rootless' ? [] : ['--memory', '64m']);
});

function memory(testbed: () => Testbed, way: Way): void {
  describe('memory', () => {
    it('ends a command that takes more than its limit', async () => {
      const { carrel } = testbed();
      await carrel.ok('create', '--name', 'glutton', '--memory', '64m', '--swap', '64m', '--', ...devour);
      await carrel.ok('wait', 'glutton');
      const { state, reason } = await carrel.json<{ state: string; reason: string }>('show', 'glutton');
      // A Docker Engine that hears of the end first never reports the lack of memory.
      const reasons = way === 'docker' ? ['oom', 'killed by SIGKILL'] : ['oom'];
      expect([state, reasons]).toEqual(['failed', expect.arrayContaining([reason])]);
    });

    it('lets the same command use as much as its limit allows', async () => {
      const { exitCode } = await testbed().carrel.run(['run', '--rm', '--memory', '640m', '--', ...devour]);
      expect(exitCode).toBe(0);
    });

    it('kills an exec that takes more than the limit, records it, and leaves other sandboxes alone', async () => {
      const { carrel } = testbed();
      await carrel.ok('create', '--name', 'table', '--memory', '64m', '--swap', '64m');
      const { exitCode, stderr } = await carrel.run(['exec', 'table', '--', ...devour]);
      expect([exitCode, stderr]).toEqual([137, expect.stringContaining('table ran out of memory')]);
      const { id } = await carrel.show('table');
      const events = (await carrel.ok('--json', 'events'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Event);
      const [told] = events.filter(({ type }) => type === 'sandbox.exec_oom');
      expect(told).toMatchObject({ subject: id, data: { name: 'table', program: 'python3' } });
      expect(await carrel.ok('exec', attacker, '--', 'echo', 'fine')).toBe('fine\n');
    });

    it('kills the processes of an exec, and the sandbox keeps running', async () => {
      const { carrel } = testbed();
      await carrel.run(['exec', 'table', '--', ...attackCommand('devour', { processes: 6, bytes: 20 * MiB })]);
      expect((await carrel.show('table')).state).toBe('running');
    });
  });
}

function processors(testbed: () => Testbed): void {
  describe('cpu', () => {
    it('gets no more of the processors than its limit', async () => {
      const { carrel } = testbed();
      await carrel.ok('create', '--name', 'busy', '--cpus', '0.5');
      const before = await cpuSeconds(carrel, 'busy');
      const spun = await carrel.ok('exec', 'busy', '--', ...attackCommand('spin', { processes: 2, cpuSeconds: 0.5 }));
      expect((await cpuSeconds(carrel, 'busy')) - before).toBeGreaterThan(0.9);
      // A second of processor time takes two at least, however busy the machine is.
      expect((JSON.parse(spun) as { seconds: number }).seconds).toBeGreaterThan(1.6);
    });
  });
}

/** Without control groups these limits cannot be enforced, so --strict refuses them. */
function refusals(testbed: () => Testbed): void {
  it.each([
    ['--memory', '64m'],
    ['--cpus', '0.5'],
  ])('create --strict refuses %s, which cannot be enforced', async (option, value) => {
    const { carrel } = testbed();
    const asked = ['--strict', option, value, '--', 'true'];
    const { exitCode, stderr } = await carrel.run(['create', '--name', 'refused', ...asked]);
    expect(stderr).toContain(`cannot enforce ${option}`);
    expect(exitCode).toBe(3);
  });
}

function processCount(testbed: () => Testbed): void {
  describe('pids', () => {
    it.each([
      ['command', ['run', '--rm', '--pids', '64']],
      ['exec', ['exec', '-i', 'crowd']],
    ])('refuses its %s a process above the limit', async (entrance, args) => {
      const { carrel } = testbed();
      if (entrance === 'exec') await carrel.ok('create', '--name', 'crowd', '--pids', '64');
      const { stdout, exitCode } = await carrel.run([...args, '--', ...attackCommand('fork', { most: 5000 })]);
      const { children, refusal } = JSON.parse(stdout) as { children: number; refusal: string };
      expect([exitCode, refusal]).toEqual([0, 'EAGAIN']);
      expect(children).toBeGreaterThan(32);
      expect(children).toBeLessThan(64);
    });

    it('contains a fork bomb, and the daemon and other sandboxes answer meanwhile', async () => {
      const { carrel, token } = testbed();
      const bomb = attackCommand('bomb', { seconds: 170, token });
      await carrel.ok('create', '--name', 'bomb', '--pids', '64', '--', ...bomb);
      await until(() => processesNaming(token).length > 32, 'the bomb to go off', 120_000);
      expect((await carrel.list()).map(({ name }) => name)).toContain('bomb');
      expect(await carrel.ok('exec', attacker, '--', 'echo', 'fine')).toBe('fine\n');
      const count = processesNaming(token).length;
      expect([count > 32, count <= 64]).toEqual([true, true]);
      await carrel.ok('rm', '--force', 'bomb');
      expect(processesNaming(token)).toEqual([]);
    });
  });
}

function temporaryFiles(testbed: () => Testbed, options: readonly string[]): void {
  describe.each(['/tmp', '/dev/shm'])('%s', (folder) => {
    it('is full at its size limit, and no file appears on the host', async () => {
      const { carrel, token } = testbed();
      const name = `${token}-filler`;
      const args = { folder, name, most: options.length > 0 && folder === '/tmp' ? 256 * MiB : MiB };
      const stdout = await carrel.ok('run', '--rm', ...options, '--', ...attackCommand('fill', args));
      const filled = JSON.parse(stdout) as Filled;
      expect(filled.size).toBeLessThanOrEqual(2048 * MiB);
      expect(filled.beyond).toBe('ENOSPC');
      if (args.most > MiB) expect([filled.size, filled.outcome]).toEqual([32 * MiB, 'ENOSPC']);
      expect(filled.written).toBeGreaterThan(0);
      expect([`/tmp/${name}`, `/dev/shm/${name}`].filter(existsSync)).toEqual([]);
    });
  });
}

async function cpuSeconds(carrel: Installation, name: string): Promise<number> {
  const all = await carrel.json<{ name: string; cpuSeconds: number }[]>('stats');
  return all.find((one) => one.name === name)!.cpuSeconds;
}
