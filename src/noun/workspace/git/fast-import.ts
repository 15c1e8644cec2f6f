/** Runs `git fast-import` on instructions. */
import { feed, type Git, gitFault, startGit } from './git.ts';

interface Import {
  /** Options of git, before the command. */
  readonly settings?: readonly string[];
  readonly instructions: Iterable<Buffer>;
}

/** Returns what git printed. */
export async function fastImport(git: Git, { settings = [], instructions }: Import): Promise<string> {
  const child = startGit(git, [...settings, 'fast-import', '--quiet', '--done', '--depth=0']);
  const printed: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => printed.push(chunk));
  try {
    await feed(child.stdin, instructions);
  } catch (error) {
    child.kill();
    await child.ended;
    throw error;
  }
  const { exitCode, stderr, fault } = await child.ended;
  if (fault !== null) throw fault;
  if (exitCode !== 0) throw gitFault(['fast-import'], stderr);
  return Buffer.concat(printed).toString('latin1');
}
