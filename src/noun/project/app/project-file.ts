/** Reads the `carrel.yaml` of a project, with a size limit and without following links. */
import { join } from 'node:path';
import { checkYaml } from '../../../kernel/settings/yaml-file.ts';
import { isRefusal, ReadRefusal, readBoundedReal } from '../../../lib/file/bounded-read.ts';
import { isErrno } from '../../../lib/file/file.ts';
import { Fault } from '../../../model/fault.ts';
import { fleetSchema } from '../fleet/schema.ts';
import type { ProjectFile } from '../project.ts';

const fileName = 'carrel.yaml';
const maxFileBytes = 64 * 1024;

/** The name is optional: a file that only has network rules declares no fleet. */
export const projectSchema = fleetSchema.partial({ name: true });

/** Null: there is none. */
export function readProjectFile(project: string): ProjectFile | null {
  const path = join(project, fileName);
  const text = readText(path);
  return text === null ? null : { path, content: checkYaml(path, text, projectSchema) };
}

function readText(path: string): string | null {
  try {
    return readBoundedReal(path, maxFileBytes)?.bytes.toString('utf8') ?? null;
  } catch (error) {
    if (isRefusal(error, 'link'))
      throw new Fault('invalid', `${path} is a link, so it is not read`, { hint: 'Replace it by a plain file.' });
    if (error instanceof ReadRefusal) {
      throw new Fault('invalid', `${path} is not a plain file of at most ${maxFileBytes / 1024} KiB`);
    }
    if (!isErrno(error, 'EACCES')) throw error;
    const hint = 'Make it readable for the daemon, or name the rules with --network.';
    throw new Fault('denied', `the daemon may not read ${path}`, { hint, cause: error });
  }
}
