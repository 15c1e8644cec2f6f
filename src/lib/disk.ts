/** What folders take on disk, and that it is safe there. */
import { Fault } from '../model/fault.ts';
import { run } from './run.ts';

/** There may be millions of files. */
const longMs = 3_600_000;

/** What vanishes while it is measured is left out; other filesystems are not entered. */
export async function diskUsage(folder: string): Promise<number> {
  const { stdout, stderr } = await run(['du', '-s', '--block-size=1', '--one-file-system', '--', folder], longMs);
  const bytes = Number.parseInt(stdout, 10);
  if (Number.isNaN(bytes)) throw new Fault('internal', `cannot measure ${folder}: ${stderr.trim()}`);
  return bytes;
}

/** Returns once everything on the filesystem of this path is safe on disk. */
export async function syncAround(path: string): Promise<void> {
  const { exitCode, stderr } = await run(['sync', '-f', '--', path], longMs);
  if (exitCode !== 0) throw new Fault('internal', `cannot write ${path} to disk: ${stderr.trim()}`);
}
