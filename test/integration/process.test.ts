import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readIfThere } from '../../src/lib/file/file.ts';
import { processRef } from '../../src/lib/process/process.ts';
import { isRealRoot } from '../harness/machine.ts';

/** The first thread ends; the other one reports that and waits for the end of stdin. */
const halfDead = `
import ctypes, os, sys, threading
def last():
    while open(f'/proc/{os.getpid()}/stat').read().rsplit(')')[-1].split()[0] != 'Z': pass
    print('Z', flush=True)
    os.read(0, 1)
    os._exit(0)
threading.Thread(target=last).start()
ctypes.CDLL(None).syscall({'x86_64': 60, 'aarch64': 93}[os.uname().machine], 0)
`;

it('a process counts as running until the last of its threads has ended', async () => {
  const child = spawn('/usr/bin/python3', ['-c', halfDead], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  expect(processRef(child.pid!)).toMatchObject({ pid: child.pid });
  child.stdin.end();
  await once(child, 'exit');
  expect(processRef(child.pid!)).toBeNull();
});

it.runIf(isRealRoot)('a control group that is removed while it is read counts as absent', () => {
  const all = '/sys/fs/cgroup';
  const group = mkdtempSync(join(existsSync(join(all, 'cgroup.procs')) ? all : join(all, 'pids'), 'carrel-'));
  const fd = openSync(join(group, 'cgroup.procs'), 'r');
  rmdirSync(group);
  expect(readIfThere(`/proc/self/fd/${fd}`)).toBeNull();
  closeSync(fd);
});
