import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of this package. This code may be a file of the build, part of a bundle, or the sources. */
export const packageFolder = folderAbove(import.meta.dirname);

/** The folder of the build. */
export const dist = join(packageFolder, 'dist');

/** The file of a program of the build; `scripts/programs.mjs` lists them by name. */
export function programFile(name: string, extension: 'js' | 'cjs' = 'js'): string {
  return join(dist, 'program', `${name}.${extension}`);
}

export function packageVersion(): string {
  const text = readFileSync(join(packageFolder, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** The file of a home in which the daemon records its build. */
export const buildNote = 'daemon.json';

export interface Build {
  readonly version: string;
  /** A digest of the programs besides the command line: the same for the same content. */
  readonly build: string;
  readonly builtAt: string;
}

/** Null: this code was not built. */
export function ownBuild(): Build | null {
  try {
    const { build, builtAt } = JSON.parse(readFileSync(join(dist, 'build.json'), 'utf8')) as Build;
    return { version: packageVersion(), build, builtAt };
  } catch {
    return null;
  }
}

function folderAbove(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : folderAbove(dirname(folder));
}
