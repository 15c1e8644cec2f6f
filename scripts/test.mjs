// Runs vitest in a mount namespace of its own, as the daemon is: engines mount folders, and the host must not see them.
// An ordinary user also gets a user namespace, and the rootless half of the tests. In CI the unit and conformance
// projects run on a newer Node first.
import { spawnSync } from 'node:child_process';
import { namespaceArgs } from '../dist/lib/sys/namespace.js';

const newerNode = '24';
const args = process.argv.slice(2);
// See test/harness/run-disk.ts.
const env = { CARREL_TEST_DISK: '1', ...process.env };

if (process.env.CI && args.length === 0 && !process.version.startsWith(`v${newerNode}.`)) {
  console.log(`Node ${newerNode}: unit and conformance`);
  run(process.execPath, ['scripts/test-node.mjs', newerNode], { ...env, CARREL_TEST_AGAIN: '1' });
  console.log(`Node ${process.versions.node}: all`);
}
const [program, ...inNamespace] = namespaceArgs(process.getuid());
run(program, [...inNamespace, 'node_modules/.bin/vitest', 'run', ...args], env);

function run(command, argv, environment) {
  const { status, signal, error } = spawnSync(command, argv, { stdio: 'inherit', env: environment });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? (signal ? 1 : 0));
}
