// Runs vitest in a mount namespace of its own, as the daemon is: engines mount things, and the host must not see them.
// An ordinary user gets a user namespace too, and with it the rootless half of everything.
import { spawnSync } from 'node:child_process';
import { namespaceArgs } from '../dist/lib/namespace.js';

const [program, ...args] = [
  ...namespaceArgs(process.getuid()),
  'node_modules/.bin/vitest',
  'run',
  ...process.argv.slice(2),
];
const { status, signal, error } = spawnSync(program, args, { stdio: 'inherit' });
if (error) throw error;
process.exit(status ?? (signal ? 1 : 0));
