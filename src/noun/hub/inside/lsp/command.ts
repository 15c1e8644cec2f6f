/** Finds the program of a language server. */
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { ServerSpec } from './lsp.ts';

/** The first of its commands that can be run; null: none. */
export function commandOf({ commands }: ServerSpec): readonly string[] | null {
  return commands.find((command) => canRun(command)) ?? null;
}

/** If the program runs a script, the script has to exist, too. */
function canRun([program = '', script = '']: readonly string[]): boolean {
  if (isAbsolute(script) && !has(script, constants.R_OK)) return false;
  if (program.includes('/')) return has(program, constants.X_OK);
  return (process.env.PATH ?? '').split(delimiter).some((folder) => has(join(folder, program), constants.X_OK));
}

function has(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
