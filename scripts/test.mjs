// Runs vitest in a mount namespace of its own, as the daemon is: engines mount folders, and the host must not see them.
// An ordinary user also gets a user namespace, and the rootless half of the tests. In CI the unit and conformance
// projects run on a newer Node first.
import { spawnSync } from 'node:child_process';
import { namespaceArgs } from '../dist/lib/sys/namespace.js';
import { beginStage } from './stage.mjs';

const newerNode = '24';
const args = process.argv.slice(2);
// See test/harness/run-disk.ts.
process.env.CARREL_TEST_DISK ??= '1';

if (process.env.CI && args.length === 0 && !process.version.startsWith(`v${newerNode}.`)) {
  console.log(`Node ${newerNode}: unit and conformance`);
  beginStage(`tests on Node ${newerNode}`);
  run(process.execPath, ['scripts/test-node.mjs', newerNode], { ...process.env, CARREL_TEST_AGAIN: '1' });
  console.log(`Node ${process.versions.node}: all`);
}
const [program, ...inNamespace] = namespaceArgs(process.getuid());
beginStage('tests');
run(program, [...inNamespace, 'node_modules/.bin/vitest', 'run', ...args]);

function run(command, argv, environment = process.env) {
  const { status, signal, error } = spawnSync(command, argv, { stdio: 'inherit', env: environment });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? (signal ? 1 : 0));
}
