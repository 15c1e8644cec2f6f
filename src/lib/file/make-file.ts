/**
 * New files in folders that other programs can write to. The file is whole and on the disk when it can be renamed to the name
 * that others know.
 */
import { closeSync, fchmodSync, fchownSync, fstatSync, fsyncSync, openSync, rmSync, writeFileSync } from 'node:fs';

export interface NewFileContent {
  readonly bytes: Uint8Array;
  /** The exact mode, whatever the umask is. */
  readonly mode: number;
  /** Undefined: this account. */
  readonly owner?: { readonly uid: number; readonly gid: number };
}

/**
 * Fails with EEXIST if the name is taken, also by a link, which is never followed. Until the file is whole, it belongs to this
 * account alone; a file that cannot be made whole is removed. The caller syncs the folder after the rename.
 */
export function makeFile(path: string | Buffer, { bytes, mode, owner }: NewFileContent, opened = () => {}): void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    opened();
    writeFileSync(fd, bytes);
    if (owner !== undefined && !belongsTo(fd, owner)) fchownSync(fd, owner.uid, owner.gid);
    fchmodSync(fd, mode);
    fsyncSync(fd);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
}

function belongsTo(fd: number, { uid, gid }: { readonly uid: number; readonly gid: number }): boolean {
  const made = fstatSync(fd);
  return made.uid === uid && made.gid === gid;
}
