// @needs root
/** A bound project is the host's own folder: what an agent cannot do there. */
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ways } from '../fixtures/attacks/testbed.ts';
import { Dockerd } from '../harness/dockerd.ts';
import { Installation } from '../harness/installation.ts';
import { createRootlessAccount, type RootlessAccount } from '../harness/rootless.ts';

const attacks = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, call):
    try:
        result = call()
        print(name, 'done' if result is None or result >= 0 else 'refused')
    except OSError:
        print(name, 'refused')
open('file', 'w').close()
attempt('plain', lambda: os.chmod('file', 0o755))
for bits, name in ((0o4000, 'setuid'), (0o2000, 'setgid')):
    mode = 0o755 | bits
    attempt(name + ' chmod', lambda: os.chmod('file', mode))
    attempt(name + ' fchmod', lambda: os.fchmod(os.open('file', os.O_RDWR), mode))
    attempt(name + ' fchmodat', lambda: os.chmod('file', mode, dir_fd=os.open('.', os.O_RDONLY)))
    attempt(name + ' fchmodat2', lambda: libc.syscall(452, -100, b'file', mode, 0))
    attempt(name + ' open', lambda: os.open(name + '1', os.O_CREAT | os.O_WRONLY, mode))
    attempt(name + ' tmpfile', lambda: os.open('.', os.O_TMPFILE | os.O_WRONLY, mode))
    attempt(name + ' creat', lambda: libc.creat((name + '2').encode(), mode))
    attempt(name + ' mknod', lambda: os.mknod(name + '3', mode))
    attempt(name + ' openat2', lambda: libc.syscall(437, -100, (name + '4').encode(), (ctypes.c_uint64 * 3)(0o101, mode, 0), 24))
`;

describe.each(ways)('%s', (way) => {
  let account: RootlessAccount | null;
  let dockerd: Dockerd | null;
  let carrel: Installation;
  let project: string;

  beforeAll(async () => {
    account = way === 'rootless' ? createRootlessAccount() : null;
    dockerd = way === 'docker' ? await Dockerd.open() : null;
    carrel = new Installation(account, dockerd);
    project = carrel.folder('project');
  });
  afterAll(async () => {
    await carrel.dispose();
    await dockerd?.dispose();
    account?.dispose();
  });

  it('an agent cannot create a set-user-id file in a bound project', async () => {
    const { stdout, stderr } = await carrel.run(['run', '--mode', 'bind', project, '--', 'python3', '-'], {
      input: attacks,
    });
    expect(stderr).toBe('');
    const [control, ...rest] = stdout.trim().split('\n');
    expect(control).toBe('plain done');
    expect(rest).toHaveLength(18);
    expect(rest.filter((line) => !line.endsWith(' refused'))).toEqual([]);
    expect(execFileSync('find', [project, '-perm', '/6000']).toString()).toBe('');
  });

  it('a project that an agent replaced by a link is refused for other sandboxes', async () => {
    const mono = carrel.folder('mono');
    await carrel.ok('run', '--rm', '--mode', 'bind', mono, '--', 'mkdir', 'app');
    await carrel.ok('create', '--name', 'inner', join(mono, 'app'));
    await carrel.ok('create', '--mode', 'bind', '--name', 'outer', mono);
    await carrel.ok('stop', '--grace', '0', 'inner');
    await carrel.ok('exec', 'outer', '--', 'sh', '-c', 'mv app away; ln -s /etc app');
    const again = await carrel.run(['start', 'inner']);
    expect(again.stderr).toContain('leads through a link');
    expect(again.exitCode).toBe(4);
    const fresh = await carrel.run(['run', '--rm', join(mono, 'app'), '--', 'ls']);
    expect(fresh.stderr).toContain('a link that a sandbox may have made');
    expect(fresh.exitCode).toBe(4);
  });

  it('files that an agent creates belong to the owner of the project', async () => {
    await carrel.ok(
      'run',
      '--mode',
      'bind',
      project,
      '--',
      'sh',
      '-c',
      'stat -c %U . > who; mkdir -p a/b; touch a/b/c',
    );
    expect(readFileSync(join(project, 'who'), 'utf8')).toBe('agent\n');
    for (const path of ['who', 'a/b/c']) expect(statSync(join(project, path)).uid).toBe(statSync(project).uid);
  });
});
