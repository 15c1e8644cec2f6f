/** Whether sandboxes find a program of this machine: they have the folder /usr and the home of their user. */
import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Anchor, within } from '../../../lib/file/anchor.ts';
import { systemFolders } from '../../sandbox/part/part.ts';

export function hasHostProgram(program: string, home: string): boolean {
  if (program.startsWith('/')) return !isOfSystem(program) || runs(program);
  if (program.includes('/')) return true;
  return systemFolders.some((folder) => runs(join(folder, program))) || isInHome(program, home);
}

/** Other paths, such as /workspace, may exist only inside. */
function isOfSystem(path: string): boolean {
  return ['/usr/', '/bin/', '/sbin/'].some((folder) => path.startsWith(folder));
}

/** A link that leads out of /usr leads nowhere inside. */
function runs(path: string): boolean {
  try {
    const real = realpathSync(path);
    const stat = statSync(real);
    return real.startsWith('/usr/') && stat.isFile() && (stat.mode & 0o111) !== 0;
  } catch {
    return false;
  }
}

/** Users can write there, so no link on the way is followed; the sandbox resolves the last part itself. */
function isInHome(program: string, home: string): boolean {
  try {
    return within(Anchor.reach(home), (top) =>
      within(top.enter('.local'), (local) => within(local.enter('bin'), (bin) => bin.look(program) !== null)),
    );
  } catch {
    return false;
  }
}
