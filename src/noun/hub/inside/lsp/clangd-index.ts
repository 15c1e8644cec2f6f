/**
 * The place of clangd's index. clangd writes the index beside the compile_commands.json of a project and has no option
 * for another place. So it gets a folder outside of the project that has a link to that file.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const indexArgument = '--background-index';
const file = 'compile_commands.json';
/** The folders in which clangd looks for the file. */
const places = ['.', 'build'];

export function clangdArguments(root: string, cache = cacheFolder()): readonly string[] {
  const place = places.find((one) => existsSync(join(root, one, file)));
  // Without the file clangd indexes nothing; with a file deeper in the project it would write the index there.
  if (place === undefined) return ['--background-index=false'];
  try {
    return [indexArgument, `--compile-commands-dir=${linked(join(root, place, file), cache)}`];
  } catch {
    // The home may be read-only: then there is no index, ignoring why.
    return ['--background-index=false'];
  }
}

function linked(target: string, cache: string): string {
  const folder = join(cache, 'carrel/clangd', createHash('sha256').update(target).digest('hex').slice(0, 16));
  mkdirSync(folder, { recursive: true });
  rmSync(join(folder, file), { force: true });
  symlinkSync(target, join(folder, file));
  return folder;
}

function cacheFolder(): string {
  return process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
}
