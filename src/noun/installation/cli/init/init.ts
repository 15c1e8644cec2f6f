/**
 * `carrel init`: writes a carrel.yaml for the projects that it finds in the current folder, and in `.carrel` the schema by
 * which editors check it. A carrel.yaml that exists is a conflict, and nothing is overwritten. No daemon is started.
 */
import { lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../../../../client/cli.ts';
import { counted } from '../../../../client/output/count.ts';
import { plain } from '../../../../client/output/text.ts';
import { fleetFileName } from '../../../../client/project-file/file.ts';
import { Anchor, within } from '../../../../lib/file/anchor.ts';
import { isErrno, writeNew } from '../../../../lib/file/file.ts';
import { packageFolder } from '../../../../lib/file/package.ts';
import { Fault } from '../../../../model/fault.ts';
import { draft, schemaFolder, schemaName } from './draft.ts';
import { survey } from './survey.ts';

const mode = 0o644;

export async function init(context: Context): Promise<void> {
  const { out } = context;
  const folder = process.cwd();
  const file = join(folder, fleetFileName);
  if (lstatSync(file, { throwIfNoEntry: false })) throw exists(file);
  const found = survey(folder);
  writeSchema(folder, (text) => out.warn(text));
  writeFleet(file, draft(found));
  if (context.json) return out.document({ file, ...found });
  out.print(plain(file));
  out.say(`found ${counted(found.projects.length, 'project')}; see what it would do: carrel up --dry-run`);
}

function writeFleet(file: string, text: string): void {
  try {
    writeNew(file, text, mode);
  } catch (error) {
    if (isErrno(error, 'EEXIST')) throw exists(file);
    throw unwritable(file, error);
  }
}

/**
 * Writes the schema for editors below the folder of the file, so that its path is the same on every machine. An
 * existing schema stays.
 */
function writeSchema(folder: string, warn: (text: string) => void): void {
  const own = join(packageFolder, 'schema', schemaName);
  try {
    mkdirSync(join(folder, schemaFolder), { recursive: true });
    const place = within(Anchor.open(folder), (here) => here.enter(schemaFolder));
    within(place, () => writeNew(`${place.path}/${schemaName}`, readFileSync(own), mode));
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return;
    if (isErrno(error, 'EACCES') || isErrno(error, 'EROFS')) throw unwritable(folder, error);
    warn(`${schemaFolder}/${schemaName} was not written: ${(error as Error).message}`);
  }
}

function exists(file: string): Fault {
  return new Fault('conflict', `${file} is there already`, {
    hint: 'Change it by hand, or move it away and try again.',
  });
}

function unwritable(path: string, error: unknown): Fault {
  return new Fault('denied', `${path} cannot be written: ${(error as Error).message}`, { cause: error });
}
