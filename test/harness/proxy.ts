/** The proxy of an installation, as a process. */
import { readdirSync, readFileSync } from 'node:fs';

export function proxyPid(home: string): number | null {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found = pids.find((pid) => {
    try {
      const argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      if (!argv[1]?.endsWith('/network/proxy/main.js')) return false;
      return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`CARREL_HOME=${home}`);
    } catch {
      return false;
    }
  });
  return found === undefined ? null : Number(found);
}
