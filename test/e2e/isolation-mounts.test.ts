// @needs root
/**
 * Volumes below folders that an agent can write: planted links redirect no mount, and groups of the daemon open no
 * file.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ways } from '../fixtures/attacks/testbed.ts';
import { Dockerd } from '../harness/dockerd.ts';
import { type Account, Installation, until } from '../harness/installation.ts';
import { createRootlessAccount, type RootlessAccount } from '../harness/rootless.ts';
import { processesMentioning } from '../harness/traces.ts';

const volume = ['--volume', 'memory-bank:/home/agent/d/mb'];
const aims = { root: '/proc', rootless: '/run/carrel/metadata', docker: '/proc' };

describe.each(ways)('%s', (way) => {
  let account: RootlessAccount | null;
  let dockerd: Dockerd | null;
  let carrel: Installation;

  beforeAll(async () => {
    account = way === 'rootless' ? createRootlessAccount() : null;
    dockerd = way === 'docker' ? await Dockerd.open() : null;
    carrel = new Installation(account, dockerd);
  });
  afterAll(async () => {
    await carrel.dispose();
    await dockerd?.dispose();
    account?.dispose();
  });

  const inside = (name: string, script: string) => carrel.run(['exec', name, '--', 'sh', '-c', script]);

  /** Replaces `~/d`, in which the volume is mounted, by a folder whose `mb` is a link. */
  async function plant(name: string, aim: string): Promise<void> {
    const { exitCode, stderr } = await inside(name, `cd ~ && mv d away && mkdir d && ln -s ${aim} d/mb`);
    expect([aim, exitCode, stderr]).toEqual([aim, 0, '']);
  }

  async function expectRefused(name: string): Promise<void> {
    const { exitCode, stderr } = await carrel.run(['start', name]);
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining('cannot mount /home/agent/d/mb: a link')]);
  }

  it('a volume in the home is mounted again at each start, with its content', async () => {
    await carrel.ok('create', '--name', 'plain', ...volume);
    for (const word of ['one', 'two']) {
      expect((await inside('plain', `echo ${word} >> ~/d/mb/note`)).stderr).toBe('');
      await carrel.ok('stop', '--grace', '0', 'plain');
      await carrel.ok('start', 'plain');
    }
    const hash = readdirSync(join(carrel.home, 'volumes')).find((name) => name.startsWith('carrel-memory-bank-'));
    expect(readFileSync(join(carrel.home, 'volumes', hash!, 'note'), 'utf8')).toBe('one\ntwo\n');
    await carrel.ok('rm', '--force', 'plain');
  });

  const onRoot = way === 'root' ? it : () => {};
  onRoot('a sandbox whose daemon dies before the volume is mounted does not begin without it', async () => {
    await carrel.ok('create', '--name', 'cut', ...volume, '--', 'sh', '-c', 'stat -c %d ~ ~/d/mb; exec sleep infinity');
    const lines = async () => (await carrel.ok('logs', 'cut')).trim().split('\n');
    await until(async () => (await lines()).length === 2, 'the command to run');
    await carrel.ok('stop', '--grace', '0', 'cut');
    await carrel.killDaemon();
    await carrel.run(['start', 'cut'], { env: { CARREL_CRASH_AT: 'start:made' } });
    await until(async () => (await carrel.show('cut')).state === 'running', 'the sandbox to run');
    await until(async () => (await lines()).length === 4, 'the command to run again');
    const [, volumeBefore, home, volumeNow] = await lines();
    expect(volumeNow).toBe(volumeBefore);
    expect(home).not.toBe(volumeNow);
    await carrel.ok('rm', '--force', 'cut');
  });

  it('no link that an agent planted is followed: after a start, in a fork, and after a restore', async () => {
    await carrel.ok('create', '--name', 'planter', ...volume);
    await plant('planter', aims[way]);
    const snapshot = (await carrel.ok('snapshot', 'planter')).trim();
    await carrel.ok('stop', '--grace', '0', 'planter');
    await expectRefused('planter');
    await carrel.ok('fork', 'planter', 'forked');
    await expectRefused('forked');
    await carrel.ok('restore', 'planter', snapshot);
    await expectRefused('planter');
    await carrel.ok('rm', '--force', 'planter', 'forked');
  });
});

describe.each(['root', 'rootless'] as const)('groups of the account starting a daemon, as %s', (way) => {
  let rootless: RootlessAccount | null;
  let carrel: Installation;

  beforeAll(() => {
    rootless = way === 'rootless' ? createRootlessAccount(65_536, groups) : null;
    carrel = new Installation(rootless ?? rootWithGroups);
  });
  afterAll(async () => {
    await carrel.dispose();
    rootless?.dispose();
  });

  it('are dropped by daemon, keeper and commands', async () => {
    await carrel.ok(
      'create',
      '--name',
      'held',
      '--',
      'sh',
      '-c',
      'grep Groups: /proc/self/status; exec sleep infinity',
    );
    const [keeper] = processesMentioning(carrel.home, 'conmon');
    expect([carrel.daemonPid, keeper!].map(groupsOf)).toEqual(['', '']);
    const printed = async () => (await carrel.ok('logs', 'held')).trim();
    await until(async () => (await printed()) !== '', 'the command to print');
    expect(await printed()).toBe('Groups:');
    expect((await carrel.ok('exec', 'held', '--', 'grep', 'Groups:', '/proc/self/status')).trim()).toBe('Groups:');
  });
});

const groups = [4, 20];
const rootWithGroups: Account = {
  wrap: (argv) => ['setpriv', '--groups', groups.join(','), '--', ...argv],
  prepareHome: () => {},
};

function groupsOf(pid: number): string {
  return /^Groups:(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]!.trim();
}
