import { isInstalled, timeProgram } from './program.ts';
import type { Measure } from './sample.ts';

const links = ['bin', 'lib', 'lib64', 'sbin'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]);
const argv = [
  ...['bwrap', '--unshare-all', '--die-with-parent', '--ro-bind', '/usr', '/usr', ...links],
  ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--', 'echo', 'ready'],
];

/** Null: bwrap is not installed. */
export function openBwrap(): Measure | null {
  return isInstalled('bwrap') ? () => timeProgram(argv) : null;
}
