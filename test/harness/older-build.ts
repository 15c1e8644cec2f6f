/** Builds of earlier states of this repository, for tests of an upgrade. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The states by the version that they call themselves. */
const commits: Readonly<Record<string, string>> = {
  // Before programs had names of their own: sandboxes started `lib/agent/session/main.js`.
  '0.1.0': 'bd57dc87',
};

/**
 * Checks a state out of git into the folder and builds it with the packages of this checkout. Returns its command. A
 * clone without its history has no earlier state.
 */
export function buildOlder(version: string, folder: string): string {
  mkdirSync(folder, { recursive: true });
  const archive = execFileSync('git', ['archive', commits[version]!], { maxBuffer: 256 * 1024 ** 2 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: folder, stdio: 'pipe' });
  return join(folder, 'bin/carrel');
}
