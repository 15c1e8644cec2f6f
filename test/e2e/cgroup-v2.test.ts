// @needs root
/** The unified hierarchy of control groups, in a mount namespace that shows nothing else. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation, until } from '../harness/installation.ts';
import { createRootlessAccount, type RootlessAccount } from '../harness/rootless.ts';
import { markedName } from '../harness/run.ts';

/**
 * The unified hierarchy, mounted for this file: on a hybrid machine an engine of this run may have covered its usual
 * place.
 */
const unified = mkdtempSync(join(tmpdir(), 'carrel-groups-'));

beforeAll(() => {
  execFileSync('mount', ['-t', 'cgroup2', 'carrel-test', unified]);
});
afterAll(() => {
  execFileSync('umount', [unified]);
  rmdirSync(unified);
});

interface View {
  readonly id: string;
  readonly limits: { readonly advisory: readonly string[] };
}

function processesIn(group: string): number {
  return readFileSync(join(group, 'cgroup.procs'), 'utf8').trim().split('\n').length;
}

const wrapUnified = (argv: readonly string[]) => [
  'unshare',
  '--mount',
  '--',
  'test/fixtures/with-unified-groups',
  ...argv,
];

describe('a group that was delegated to an ordinary user', () => {
  const group = join(unified, markedName('delegated'));
  let account: RootlessAccount;
  let carrel: Installation;

  beforeAll(() => {
    account = createRootlessAccount();
    mkdirSync(group);
    for (const name of ['', 'cgroup.procs', 'cgroup.threads', 'cgroup.subtree_control'])
      account.prepareHome(join(group, name));
    const inside = ['test/fixtures/in-group', `/sys/fs/cgroup/${markedName('delegated')}`];
    carrel = new Installation({ ...account, wrap: (argv) => wrapUnified([...inside, ...account.wrap(argv)]) });
  });
  afterAll(async () => {
    await carrel.dispose();
    account.dispose();
    const inside = readdirSync(group, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const path of [...inside.map(({ name }) => join(group, name)), group]) {
      // A command may still be exiting.
      await until(
        () => /^populated 0$/m.test(readFileSync(join(path, 'cgroup.events'), 'utf8')),
        `${path} to be empty`,
      );
      rmdirSync(path);
    }
  });

  it('holds the sandboxes of that user, and what is executed in them', async () => {
    await carrel.ok('create', '--name', 'a');
    const { id } = await carrel.json<View>('show', 'a');
    const parent = readdirSync(group).find((name) => existsSync(join(group, name, id)));
    const child = carrel.spawn(['exec', 'a', '--', 'sh', '-c', 'echo ready; exec sleep infinity']);
    await new Promise((resolve) => child.stdout!.once('data', resolve));
    await until(() => processesIn(join(group, parent!, id)) === 3, 'three processes');
    await carrel.ok('rm', '--force', 'a');
    expect(existsSync(join(group, parent!, id))).toBe(false);
  });

  it('is where the next daemon finds the sandboxes, and where it runs itself', async () => {
    await carrel.ok('create', '--name', 'b');
    const { id } = await carrel.json<View>('show', 'b');
    const parent = readdirSync(group).find((name) => existsSync(join(group, name, id)))!;
    await carrel.killDaemon();
    await carrel.ok('create', '--name', 'c');
    const next = await carrel.json<View>('show', 'c');
    expect(readdirSync(join(group, parent))).toEqual(expect.arrayContaining([id, next.id]));
    expect(readFileSync(join(group, 'carrel-daemon/cgroup.procs'), 'utf8')).toMatch(
      new RegExp(`^${carrel.daemonPid}$`, 'm'),
    );
    await carrel.ok('rm', '--force', 'b', 'c');
    expect(existsSync(join(group, parent, id))).toBe(false);
  });
});

describe('on the unified hierarchy', () => {
  let carrel: Installation;
  beforeAll(() => {
    carrel = new Installation({ wrap: wrapUnified, prepareHome: () => {} });
  });
  afterAll(() => carrel.dispose());

  const groups = (name: string): string[] => {
    const parents = readdirSync(unified).filter((folder) => folder.startsWith('carrel-'));
    return parents
      .filter((parent) => existsSync(join(unified, parent, name)))
      .map((parent) => join(unified, parent, name));
  };

  it('a sandbox and its execs share a group of their own, which is removed with the sandbox', async () => {
    await carrel.ok('create', '--name', 'a');
    const { id } = await carrel.json<View>('show', 'a');
    const [group] = groups(id);
    const child = carrel.spawn(['exec', 'a', '--', 'sh', '-c', 'echo ready; exec sleep infinity']);
    await new Promise((resolve) => child.stdout!.once('data', resolve));
    await until(() => processesIn(group!) === 3, 'three processes');
    expect(await carrel.json('stats')).toMatchObject([{ name: 'a' }]);
    await carrel.ok('rm', '--force', 'a');
    expect(groups(id)).toEqual([]);
  });

  it('limits with a controller are enforced, and --strict refuses the others', async () => {
    const controllers = readFileSync(join(unified, 'cgroup.controllers'), 'utf8').trim().split(' ');
    await carrel.ok('create', '--name', 'b');
    const { limits } = await carrel.json<View>('show', 'b');
    expect(limits.advisory.includes('memoryBytes')).toBe(!controllers.includes('memory'));
    expect(limits.advisory).not.toContain('pids');
    const asked = await carrel.run(['run', '--rm', '--strict', '--memory', '64m', '--', 'true']);
    expect(asked.exitCode).toBe(controllers.includes('memory') ? 0 : 3);
  });

  it('a fork bomb ends at the limit of processes', async () => {
    const script = 'i=0; while [ $i -lt 200 ]; do sleep 5 & i=$((i+1)); done; wait';
    const { stderr } = await carrel.run(['run', '--rm', '--pids', '32', '--', 'sh', '-c', script]);
    expect(stderr).toMatch(/fork/i);
  });

  it('a sandbox that another program froze is shown as stopped', async () => {
    await carrel.ok('create', '--name', 'c');
    const { id } = await carrel.json<View>('show', 'c');
    writeFileSync(join(groups(id)[0]!, 'cgroup.freeze'), '1');
    expect(await carrel.json('show', 'c')).toMatchObject({ state: 'stopped', reason: 'paused' });
  });
});
