/** Names that exist only for one installation, which has more lines in /etc/hosts, in a mount namespace of its own. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Account } from './installation.ts';

export interface Hosts {
  /** The same account, with the names. */
  around(account: Account | null): Account;
  dispose(): void;
}

export function createHosts(names: Readonly<Record<string, string>>): Hosts {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-hosts-'));
  const file = join(folder, 'hosts');
  const lines = Object.entries(names).map(([name, address]) => `${address} ${name}\n`);
  writeFileSync(file, `${readFileSync('/etc/hosts', 'utf8')}\n${lines.join('')}`, { mode: 0o644 });
  const script = join(folder, 'enter');
  writeFileSync(script, `#!/bin/sh\nset -e\nmount --bind ${file} /etc/hosts\nexec "$@"\n`, { mode: 0o755 });
  const enter = ['unshare', '--mount', '--propagation', 'private', '--', script];
  return {
    around: (account) => ({
      isPlain: account?.isPlain ?? true,
      wrap: (argv) => [...enter, ...(account?.wrap(argv) ?? argv)],
      prepareHome: (home) => account?.prepareHome(home),
    }),
    dispose: () => rmSync(folder, { recursive: true }),
  };
}
