/** The disk usage of folders, and flushing to disk. */
import { Fault } from '../../model/fault.ts';
import { run } from '../process/run.ts';

/** A folder may have millions of files. */
const longMs = 3_600_000;

/** Files that vanish during the measurement are not counted; other filesystems are not entered. */
export async function diskUsage(folder: string): Promise<number> {
  const { stdout, stderr } = await run(['du', '-s', '--block-size=1', '--one-file-system', '--', folder], longMs);
  const bytes = Number.parseInt(stdout, 10);
  if (Number.isNaN(bytes)) throw new Fault('internal', `cannot measure ${folder}: ${stderr.trim()}`);
  return bytes;
}

/** The usage of many folders at once, in bytes or in inodes, by folder; absent folders are left out. */
export async function diskUsages(folders: readonly string[], what: 'bytes' | 'inodes'): Promise<Map<string, number>> {
  if (folders.length === 0) return new Map();
  const unit = what === 'bytes' ? '--block-size=1' : '--inodes';
  const { stdout } = await run(['du', '-s', '-0', unit, '--one-file-system', '--', ...folders], longMs);
  const lines = stdout.split('\0').map((line) => line.split('\t', 2) as [string, string?]);
  return new Map(lines.flatMap(([size, folder]) => (folder === undefined ? [] : [[folder, Number(size)]])));
}

/** Returns when everything on the filesystem of this path is durable. */
export async function syncAround(path: string): Promise<void> {
  const { exitCode, stderr } = await run(['sync', '-f', '--', path], longMs);
  if (exitCode !== 0) throw new Fault('internal', `cannot write ${path} to disk: ${stderr.trim()}`);
}
