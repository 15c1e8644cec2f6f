/** Shares: folders of the host that several sandboxes and accounts see, and that can be taken back. */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RevokeView, ShareView, VerdictView } from '../../src/noun/share/api.ts';
import { callTool, connectHub } from '../harness/hub-client.ts';
import { Installation, until } from '../harness/installation.ts';

describe('shares', () => {
  let carrel: Installation;
  let place: string;
  let count = 0;

  beforeAll(() => {
    carrel = new Installation();
    place = carrel.folder('shared');
  });
  afterAll(() => carrel.dispose());
  afterEach(async () => {
    await carrel.clear();
    for (const { name } of await shares()) await carrel.ok('share', 'revoke', name);
  });

  const shares = () => carrel.json<ShareView[]>('share', 'ls');
  const folder = () => {
    count += 1;
    const path = join(place, `folder-${count}`);
    mkdirSync(path);
    return path;
  };
  const states = async () =>
    (await shares()).flatMap(({ consumers }) => consumers.map(({ consumer, state }) => `${consumer} ${state}`));
  const inside = async (name: string, script: string) =>
    (await carrel.run(['exec', name, '--', 'sh', '-c', script])).stdout;

  it('shows a folder to sandboxes at their own paths, and each can write what another wrote', async () => {
    const path = folder();
    await carrel.ok('share', 'add', 'inbox', path, '--at', 'one=/data/inbox', '--at', 'reader=/in:ro');
    await carrel.ok('create', '--name', 'one');
    await carrel.ok('create', '--name', 'two', '--share', 'inbox');
    await carrel.ok('create', '--name', 'reader');
    expect(await states()).toEqual(['sandbox:one mounted', 'sandbox:reader mounted', 'sandbox:two mounted']);
    await inside('one', 'umask 077; echo one > /data/inbox/file');
    await inside('two', 'echo two >> /shares/inbox/file');
    expect(await inside('reader', 'cat /in/file; touch /in/other || echo refused')).toBe('one\ntwo\nrefused\n');
    expect(readFileSync(join(path, 'file'), 'utf8')).toBe('one\ntwo\n');
  });

  it('a running sandbox gets a share at once, even for running processes, loses it, and gets it again', async () => {
    const [path, other] = [folder(), folder()];
    const script = 'until [ -e /data/late/go ]; do sleep 0.02; done; echo seen > /data/late/seen; exec sleep 1000';
    await carrel.ok('create', '--name', 'box', '--', 'sh', '-c', script);
    await carrel.ok('share', 'add', 'late', path, '--at', 'box=/data/late');
    await carrel.ok('share', 'add', 'read', other, '--at', 'box=/data/read:ro');
    expect(await states()).toEqual(['sandbox:box mounted', 'sandbox:box mounted']);
    writeFileSync(join(path, 'go'), '');
    await until(() => existsSync(join(path, 'seen')), 'the process inside');
    expect(await inside('box', 'stat -c %U /data/late /data/late/seen; touch /data/read/x || echo ro')).toBe(
      'agent\nagent\nro\n',
    );
    expect(await inside('box', 'ls -ld /data | cut -c1-10; touch /data/x || echo refused')).toBe(
      'drwxr-xr-x\nrefused\n',
    );
    expect(await carrel.json<VerdictView[]>('share', 'verify', 'late')).toMatchObject([{ result: 'verified' }]);
    await carrel.ok('share', 'revoke', 'late', 'box');
    expect(await inside('box', 'ls /data/late')).toBe('');
    await carrel.ok('share', 'add', 'late', path, '--at', 'box=/data/late');
    expect(await inside('box', 'cat /data/late/seen')).toBe('seen\n');
    await carrel.ok('stop', 'box');
    await carrel.ok('start', 'box');
    expect(await states()).toEqual(['sandbox:box mounted', 'sandbox:box mounted']);
  });

  it('gives a share of a project to each sandbox that works on its folder and to its spoke, now and later', async () => {
    const [path, code] = [folder(), folder()];
    await carrel.ok('project', 'add', code, '--name', 'shop');
    await carrel.ok('create', code, '--name', 'early');
    await carrel.ok('create', '--name', 'apart');
    await carrel.ok('share', 'add', 'inbox', path, '--at', 'project:shop=/in', '--at', 'own=/own:ro');
    await carrel.ok('create', code, '--name', 'late', '--mode', 'bind');
    await carrel.ok('create', code, '--name', 'own');
    const hub = await connectHub(carrel);
    await callTool(hub, 'run_command', { project: 'shop', command: ['sh', '-c', 'echo spoke > /in/spoke'] });
    await hub.close();
    expect(readFileSync(join(path, 'spoke'), 'utf8')).toBe('spoke\n');
    expect(await states()).toEqual(['project:shop mounted', 'sandbox:own mounted']);
    expect(await inside('apart', 'ls -d /in || echo none')).toBe('none\n');
    const verdicts = await carrel.json<VerdictView[]>('share', 'verify', 'inbox');
    expect(verdicts.map(({ consumer, path: at, result }) => `${consumer} ${at} ${result}`).sort()).toEqual([
      'project:shop (early) /in verified',
      'project:shop (hub-shop) /in verified',
      'project:shop (late) /in verified',
      'sandbox:own /own verified',
    ]);
    const held = 'exec 3>/in/file; touch /in/ready; until [ -e /in/end ]; do sleep 0.02; done';
    const holding = carrel.run(['exec', 'late', '--', 'sh', '-c', held]);
    await until(() => existsSync(join(path, 'ready')), 'the file to be open');
    const refused = await carrel.run(['share', 'revoke', 'inbox', 'project:shop']);
    expect(refused.stderr).toContain('late uses inbox');
    for (const name of ['early', 'late']) expect(await inside(name, 'ls /in/ready')).toBe('/in/ready\n');
    writeFileSync(join(path, 'end'), '');
    await holding;
    await carrel.ok('share', 'revoke', 'inbox', 'project:shop');
    for (const name of ['early', 'late']) expect(await inside(name, 'touch /in/x || echo gone')).toBe('gone\n');
    expect(await states()).toEqual(['sandbox:own mounted']);
    await carrel.ok('project', 'rm', 'shop');
  });

  it('verify names the failing side and a hint if the folder, or its mode, is wrong', async () => {
    const path = folder();
    await carrel.ok('share', 'add', 'inbox', path);
    await carrel.ok('create', '--name', 'box', '--share', 'inbox');
    chmodSync(path, 0o500);
    const [closed] = JSON.parse((await carrel.run(['--json', 'share', 'verify', 'inbox'])).stdout) as VerdictView[];
    expect(closed).toMatchObject({
      result: 'failed',
      side: 'consumer',
      hint: `Look at mode and owner: ls -la ${path}`,
    });
    expect(closed!.reason).toContain('Permission denied');
    chmodSync(path, 0o755);
    renameSync(path, `${path}-away`);
    const [gone] = JSON.parse((await carrel.run(['--json', 'share', 'verify', 'inbox'])).stdout) as VerdictView[];
    expect(gone).toMatchObject({ result: 'failed', side: 'host', hint: expect.stringContaining('Put it back') });
  });

  it('share add says that a sandbox without the mount point gets the share at its next start', async () => {
    const rootfs = folder();
    for (const name of ['usr', 'inside']) mkdirSync(join(rootfs, name));
    cpSync('/bin/busybox', join(rootfs, 'sh'));
    await carrel.ok('create', '--name', 'box', '--rootfs', rootfs, '--', '/sh', '-c', 'while :; do read x; done');
    const { stdout, stderr } = await carrel.run(['share', 'add', 'late', folder(), '--at', 'box=/late']);
    expect(stdout).toContain('missing: carrel stop box; carrel start box');
    expect(stderr).toContain('box gets it at its next start: nothing can be mounted at /late now');
    await carrel.ok('share', 'add', 'other', folder(), '--at', 'box=/inside');
    await carrel.ok('stop', 'box');
    await carrel.ok('start', 'box');
    expect(await states()).toEqual(['sandbox:box mounted', 'sandbox:box mounted']);
  });

  it('changes the path of a share in a sandbox only while the sandbox does not run', async () => {
    const path = folder();
    await carrel.ok('share', 'add', 'inbox', path);
    await carrel.ok('create', '--name', 'box', '--share', 'inbox');
    const { exitCode, stderr } = await carrel.run(['share', 'add', 'inbox', path, '--at', 'box=/other']);
    expect([exitCode, stderr]).toEqual([6, expect.stringContaining('carrel stop box')]);
    await carrel.ok('stop', 'box');
    await carrel.ok('share', 'add', 'inbox', path, '--at', 'box=/other:ro');
    await carrel.ok('start', 'box');
    expect(await inside('box', 'ls -d /other /shares/inbox 2>/dev/null; touch /other/x || echo ro')).toBe(
      '/other\nro\n',
    );
  });

  it('revokes a share of the fork of a sandbox, too', async () => {
    await carrel.ok('share', 'add', 'inbox', folder());
    await carrel.ok('create', '--name', 'box', '--share', 'inbox');
    await carrel.ok('fork', 'box', 'twin');
    await carrel.ok('start', 'twin');
    expect(await states()).toEqual(['sandbox:box mounted', 'sandbox:twin mounted']);
    const { revoked } = await carrel.json<RevokeView>('share', 'revoke', 'inbox');
    expect(revoked).toEqual(['sandbox:box', 'sandbox:twin']);
    for (const name of ['box', 'twin']) expect(await inside(name, 'touch /shares/inbox/x || echo gone')).toBe('gone\n');
  });

  it('revokes a share whose folder is gone', async () => {
    const path = folder();
    await carrel.ok('share', 'add', 'inbox', path, '--at', 'person:nobody', '--at', 'box=/in');
    renameSync(path, `${path}-away`);
    expect(await carrel.json('share', 'revoke', 'inbox')).toMatchObject({ revoked: ['person:nobody', 'sandbox:box'] });
  });

  it('verify probes a guest through pct', async () => {
    const path = folder();
    await carrel.ok('share', 'add', 'inbox', path, '--at', `lxc:100=${path}`);
    const programs = folder();
    const pct =
      '#!/bin/sh\n[ "$1 $2 $3" = "exec 100 --" ] || exit 9\nshift 3\nexec setpriv --reuid=100000 --regid=100000 --clear-groups -- "$@"\n';
    writeFileSync(join(programs, 'pct'), pct, { mode: 0o755 });
    await carrel.ok('down');
    await carrel.process(['up', '-d'], { env: { PATH: `${programs}:${process.env.PATH}` } });
    expect(await carrel.json<VerdictView[]>('share', 'verify', 'inbox')).toMatchObject([{ result: 'verified' }]);
    expect(await carrel.ok('share', 'render', 'inbox', '--for', 'lxc')).toBe(`pct set 100 -mp0 ${path},mp=${path}\n`);
  });

  it('revokes a share of a running sandbox at once, and the sandbox starts without it', async () => {
    const path = folder();
    await carrel.ok('share', 'add', 'inbox', path);
    await carrel.ok('create', '--name', 'box', '--share', 'inbox');
    await inside('box', 'echo text > /shares/inbox/file');
    expect(await carrel.json('share', 'revoke', 'inbox', 'box')).toMatchObject({
      revoked: ['sandbox:box'],
      stopped: [],
    });
    expect(await inside('box', 'ls /shares/inbox; touch /shares/inbox/x || echo gone')).toBe('gone\n');
    await carrel.ok('stop', 'box');
    await carrel.ok('start', 'box');
    expect(await inside('box', 'ls /shares 2>&1')).not.toContain('inbox');
    expect(readFileSync(join(path, 'file'), 'utf8')).toBe('text\n');
  });

  it('refuses to revoke a share whose files a process has open, names it, and stops the sandbox with --force', async () => {
    const path = folder();
    await carrel.ok('share', 'add', 'inbox', path);
    const writes = 'exec 3>/shares/inbox/held; touch /shares/inbox/ready; while :; do echo line >&3; done';
    await carrel.ok('create', '--name', 'box', '--share', 'inbox', '--', 'sh', '-c', writes);
    await until(() => existsSync(join(path, 'ready')), 'the writer');
    const { exitCode, stderr } = await carrel.run(['share', 'revoke', 'inbox', 'box']);
    expect([exitCode, stderr]).toEqual([6, expect.stringMatching(/box uses inbox: sh \(\d+\).*--force/s)]);
    expect(await states()).toEqual(['sandbox:box mounted']);
    expect(await carrel.json('share', 'revoke', 'inbox', '--force')).toMatchObject({ stopped: ['box'] });
    expect(await carrel.show('box')).toMatchObject({ state: 'stopped', shares: [] });
    expect(await shares()).toEqual([]);
  });

  it('refuses to start a sandbox when another folder, or a link, is at the path of a share', async () => {
    const path = folder();
    await carrel.ok('share', 'add', 'swapped', path);
    await carrel.ok('create', '--name', 'box', '--share', 'swapped');
    await carrel.ok('stop', 'box');
    renameSync(path, `${path}-old`);
    mkdirSync(path);
    const other = await carrel.run(['start', 'box']);
    expect([other.exitCode, other.stderr]).toEqual([4, expect.stringContaining('is not the folder that was shared')]);
    expect((await shares())[0]!.warnings).toEqual([
      expect.stringContaining('is not the folder that was shared as swapped'),
    ]);
    renameSync(path, `${path}-new`);
    symlinkSync('/etc', path);
    expect((await carrel.run(['start', 'box'])).exitCode).toBe(4);
    renameSync(path, `${path}-link`);
    renameSync(`${path}-old`, path);
    await carrel.ok('start', 'box');
  });

  it('refuses folders of the system, the home of Carrel, and folders that overlap another share', async () => {
    const path = folder();
    mkdirSync(join(path, 'below'));
    await carrel.ok('share', 'add', 'first', path);
    for (const [bad, code] of [
      ['/', 4],
      ['/proc/self', 4],
      ['/etc', 4],
      ['/run', 4],
      ['/dev/shm', 4],
      [carrel.home, 4],
      [join(carrel.home, 'sandboxes'), 4],
      [join(carrel.home, '..'), 4],
      [path, 6],
      [join(path, 'below'), 6],
      [place, 6],
      [join(path, 'missing'), 2],
      ['/etc/passwd', 2],
    ] as const)
      expect([bad, (await carrel.run(['share', 'add', 'bad', bad])).exitCode]).toEqual([bad, code]);
  });

  it('reports a share that every account can write, in ls and in doctor', async () => {
    const path = folder();
    await carrel.ok('share', 'add', 'open', path);
    chmodSync(path, 0o777);
    expect((await carrel.run(['share', 'ls'])).stderr).toContain(`chmod o-w ${path}`);
    expect((await carrel.run(['doctor'])).stdout).toContain(`chmod o-w ${path}`);
  });

  it('does not follow a link that a sandbox made in a share', async () => {
    const path = folder();
    const project = folder();
    writeFileSync(join(project, 'private'), 'text');
    await carrel.ok('share', 'add', 'inbox', path);
    await carrel.ok('create', '--name', 'box', '--share', 'inbox');
    await inside('box', `ln -s ${project} /shares/inbox/link`);
    for (const args of [
      ['share', 'add', 'next', join(path, 'link')],
      ['run', join(path, 'link'), '--', 'true'],
      ['cp', join(path, 'link/private'), 'box:/tmp/x'],
    ]) {
      const { exitCode, stderr } = await carrel.run(args);
      expect([args[0], exitCode, stderr]).toEqual([args[0], 4, expect.stringContaining('a sandbox may have made')]);
    }
  });
});
