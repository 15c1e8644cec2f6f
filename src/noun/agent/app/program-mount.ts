/**
 * Finds what to mount in a sandbox for a program of this machine that is not below /usr: as little as the program
 * needs.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { programMount } from '../model/agent.ts';

export interface ProgramMount {
  /** The program file, the folder of its npm package, or the folder with that package and the packages beside it. */
  readonly source: string;
  /** The path of the program inside the sandbox. */
  readonly path: string;
}

/** `program` is a path without links. */
export function mountOf(program: string): ProgramMount {
  const source = sourceOf(program);
  return { source, path: join(programMount(source), relative(source, program)) };
}

function sourceOf(program: string): string {
  for (let folder = dirname(program); folder !== '/'; folder = dirname(folder)) {
    if (!existsSync(join(folder, 'package.json'))) continue;
    return needsOthers(folder) ? packagesAbove(folder) : folder;
  }
  return program;
}

/** Whether the package needs packages that were installed beside it, not in it. */
function needsOthers(folder: string): boolean {
  if (existsSync(join(folder, 'node_modules'))) return false;
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as { dependencies?: object; optionalDependencies?: object };
  return Object.keys({ ...dependencies, ...optionalDependencies }).length > 0;
}

function packagesAbove(folder: string): string {
  const at = folder.lastIndexOf('/node_modules/');
  return at < 0 ? folder : folder.slice(0, at + '/node_modules'.length);
}

export function isProgram(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && (stat.mode & 0o111) !== 0;
}
