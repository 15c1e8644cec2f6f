import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../../../lib/file/file.ts';
import type { WorkspacePlace } from '../../workspace.ts';

/** Whether nothing was ever written to a working copy. Quick, so that the common case needs no thread. */
export function isUnwritten({ kind, folder }: WorkspacePlace): boolean {
  if (kind === 'copy') return false;
  try {
    return readdirSync(join(folder, 'upper')).length === 0;
  } catch (error) {
    // The working copy was never prepared, or its disk is missing: nothing was written to it then, either.
    if (isErrno(error, 'ENOENT')) return true;
    throw error;
  }
}
