/**
 * Writes the settings of an agent's terminal program into the home of the sandbox, before the program starts. What the
 * caller requires is set; a default yields to what a file has already; other entries stay.
 *
 * Nothing here keeps the agent from starting: a file that cannot be read, parsed or written stays as it is, with a warning. The
 * settings are then not recorded as applied, so the next start tries again.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../../../lib/file/file.ts';
import { changedJsonc, parseJsonc } from '../../../../lib/text/jsonc.ts';
import { preparedSettings } from '../../model/agent.ts';
import { replace } from '../mcp/configure.ts';
import { mergeSettings } from './merge-settings.ts';

interface Settings {
  readonly files: readonly { readonly path: string; readonly set: object; readonly defaults: object }[];
}

const home = process.env.HOME ?? '/home/agent';

const settings = process.argv[2]!;
let isComplete = true;

for (const { path, set, defaults } of (JSON.parse(settings) as Settings).files) {
  const file = join(home, path);
  tolerating(file, () => {
    const text = textOf(file);
    const before = parseJsonc(text);
    const after = changedJsonc(text, before, mergeSettings(mergeSettings(defaults, before), set));
    if (after !== text) replace(file, after.endsWith('\n') ? after : `${after}\n`);
  });
}

// The settings are recorded only if all files were written, so that the next start tries again.
if (isComplete) tolerating(preparedSettings, () => writeFileSync(preparedSettings, settings));

/** A failed write, for example on a full disk, does not keep the agent from starting. */
function tolerating(file: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    isComplete = false;
    console.error(
      `carrel: ${file}: ${(error as Error).message}, ignoring; the agent may ask questions of a first start`,
    );
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return '';
    throw error;
  }
}
