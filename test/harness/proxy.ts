/** The proxy of an installation, as a process. */
import { readdirSync, readFileSync } from 'node:fs';
import { processRef, signalProcess } from '../../src/lib/process/process.ts';

/** If several proxies were started at a time, it is the one that holds the lock; the others are about to end. */
export function proxyPid(home: string): number | null {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found = pids.find((pid) => {
    try {
      const argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      if (!argv[1]?.endsWith('/program/proxy.js')) return false;
      const env = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      return env.includes(`CARREL_HOME=${home}`) && holdsLock(pid);
    } catch {
      return false;
    }
  });
  return found === undefined ? null : Number(found);
}

function holdsLock(pid: string): boolean {
  const folder = `/proc/${pid}/fdinfo`;
  return readdirSync(folder).some((fd) => readFileSync(`${folder}/${fd}`, 'utf8').includes('FLOCK'));
}

/** Kills the proxy, as a crash would. Returns its pid; null: there was none just now. */
export function killProxy(home: string): number | null {
  const pid = proxyPid(home);
  const ref = pid === null ? null : processRef(pid);
  return ref && signalProcess(ref, 'SIGKILL') ? pid : null;
}
