/** The `carrel.yaml` of a project, as the daemon reads it: one descriptor, bounded, no link followed. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { GrantingContent } from '../../fleet/grants.ts';
import { fleetSchema } from '../../fleet/schema.ts';
import { isErrno } from '../../lib/file.ts';
import { Fault } from '../../model/fault.ts';
import { checkYaml } from '../yaml-file.ts';

export interface ProjectFile {
  readonly path: string;
  readonly content: GrantingContent;
}

const fileName = 'carrel.yaml';
const maxFileBytes = 64 * 1024;

/** Of a fleet or not: one that is there for its network alone has no name. */
export const projectSchema = fleetSchema.partial({ name: true });

/** Null: there is none. */
export function readProjectFile(project: string): ProjectFile | null {
  const path = join(project, fileName);
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      return { path, content: checkYaml(path, readBounded(fd, path), projectSchema) };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    if (isErrno(error, 'ELOOP')) throw new Fault('invalid', `${path} is a link`, { hint: 'Make it a plain file.' });
    if (!isErrno(error, 'EACCES')) throw error;
    const hint = 'Make it readable, or say what may be reached: --network';
    throw new Fault('denied', `${path} may not be read`, { hint, cause: error });
  }
}

function readBounded(fd: number, path: string): string {
  const bytes = Buffer.alloc(maxFileBytes + 1);
  const length = fstatSync(fd).isFile() ? readSync(fd, bytes, 0, bytes.length, 0) : bytes.length;
  if (length > maxFileBytes) {
    throw new Fault('invalid', `${path} is not a plain file of at most ${maxFileBytes / 1024} KiB`);
  }
  return bytes.toString('utf8', 0, length);
}
