/**
 * A real LXC guest uses a share: its line is rendered, mounted, verified and revoked. Carrel finds only guests that
 * root made.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ShareView, VerdictView } from '../../src/noun/share/api.ts';
import { Installation } from '../harness/installation.ts';
import { isRealRoot } from '../harness/machine.ts';
import { markedName } from '../harness/run.ts';

describe.runIf(isRealRoot)('a guest of LXC', () => {
  const guest = markedName('lxc');
  const settings = `/var/lib/lxc/${guest}/config`;
  const consumer = `lxc:${guest}`;
  const pivots = () =>
    readdirSync('/sys/fs/cgroup')
      .map((hierarchy) => join('/sys/fs/cgroup', hierarchy, 'lxc.pivot'))
      .filter((group) => existsSync(group));
  const found = isRealRoot ? pivots() : [];
  let carrel: Installation;
  let folder: string;

  beforeAll(() => {
    carrel = new Installation();
    folder = join(carrel.folder('shared'), 'box');
    mkdirSync(folder, { mode: 0o750 });
    lxc('create', '-t', 'busybox');
    const kept = readFileSync(settings, 'utf8').replaceAll(/^lxc\.(net|apparmor).*\n/gm, '');
    writeFileSync(settings, `${kept}lxc.net.0.type = empty\nlxc.apparmor.profile = unconfined\n`);
  });
  afterAll(async () => {
    lxc('destroy', '-f');
    // LXC makes these groups for all guests and leaves them behind.
    for (const group of pivots()) if (!found.includes(group)) rmdirSync(group);
    await carrel.dispose();
  });

  const lxc = (verb: string, ...args: string[]) =>
    execFileSync(`lxc-${verb}`, ['-n', guest, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const verify = async () => {
    const { exitCode, stdout } = await carrel.run(['--json', 'share', 'verify', 'box']);
    return { exitCode, verdicts: JSON.parse(stdout) as VerdictView[] };
  };
  const state = async () => (await carrel.json<ShareView[]>('share', 'ls'))[0]?.consumers[0]?.state;

  it('sees the share once the rendered line is in its settings, and both sides are verified', async () => {
    await carrel.ok('share', 'add', 'box', folder, '--at', `${consumer}=/mnt/box`);
    lxc('start');
    const before = await verify();
    expect(before.exitCode).not.toBe(0);
    expect(JSON.stringify(before.verdicts)).toContain('the folder is not mounted there');
    expect(await state()).toBe('missing');

    lxc('stop', '-k');
    appendFileSync(settings, await carrel.ok('share', 'render', 'box', '--for', 'lxc'));
    lxc('start');
    expect(await verify()).toMatchObject({ exitCode: 0, verdicts: [{ consumer, result: 'verified' }] });
    expect(await state()).toBe('granted');

    lxc('attach', '--', '/bin/busybox', 'sh', '-c', 'echo from the guest > /mnt/box/note');
    expect(readFileSync(join(folder, 'note'), 'utf8')).toBe('from the guest\n');
    const { stderr } = await carrel.run(['share', 'revoke', 'box', consumer]);
    expect(stderr).toContain(`the guest ${guest} still has ${folder} at /mnt/box`);
  });
});
