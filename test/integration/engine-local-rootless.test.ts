// @needs root
/**
 * The local engine keeps the contract for an ordinary user too, and so do snapshots. The suites run again under that
 * account, in a vitest of its own: a process cannot change its account half-way.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { namespaceArgs } from '../../src/lib/sys/namespace.ts';
import { createRootlessAccount } from '../harness/rootless.ts';
import { runEnv } from '../harness/run.ts';

const suite = 'run --configLoader native --config test/integration/rootless.vitest.mjs'.split(' ');

/** A mount below a system folder, which an ordinary user cannot leave out of a bind mount. */
const mountBelow = ['--mount', 'sh', '-c', 'mount --bind /usr/bin/true /usr/bin/true && exec "$@"', 'sh'];

it('the suites of engines and snapshots pass for an ordinary user', { timeout: 600_000 }, async () => {
  const account = createRootlessAccount();
  const cache = mkdtempSync(join(tmpdir(), 'carrel-cache-'));
  account.prepareHome(cache);
  try {
    const args = account.wrap([...namespaceArgs(1), 'node_modules/.bin/vitest', ...suite]);
    const env = { PATH: process.env.PATH, HOME: cache, CARREL_TEST_CACHE: cache, ...runEnv() };
    const child = spawn('unshare', [...mountBelow, ...args], { stdio: ['ignore', 'pipe', 'inherit'], env });
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect(output).toMatch(/\n[1-9]\d* passed, 0 failed\n/);
    expect(code).toBe(0);
  } finally {
    account.dispose();
    rmSync(cache, { recursive: true });
  }
});
