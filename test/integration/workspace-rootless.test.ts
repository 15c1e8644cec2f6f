// @takes 25 s
/**
 * Overlays keep the contract in a user namespace too, where the kernel writes its marks under other names. The suite runs
 * again in one, in a vitest of its own: a process cannot change its namespace half-way.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

const namespace = ['--user', '--map-root-user', '--mount', '--propagation', 'slave', '--'];
const suite = 'run --configLoader native --config test/integration/workspace-rootless.vitest.mjs'.split(' ');

it('the contract of a workspace holds in a user namespace', { timeout: 600_000 }, async () => {
  const args = [...namespace, 'node_modules/.bin/vitest', ...suite];
  const env = { ...process.env, CARREL_TEST_WORKSPACES: 'live' };
  const child = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'inherit'], env });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  expect(output).toMatch(/\n[1-9]\d* passed, 0 failed\n/);
  expect(code).toBe(0);
});
