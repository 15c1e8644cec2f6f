import { readFileSync } from 'node:fs';
import type { Context } from '../../../client/cli.ts';
import { programFile } from '../../../lib/file/package.ts';

const start = 'CODEBUDDY_URL=… PROJECT_ID=… CODEBUDDY_TOKEN_FILE=… node carrel-spoke.mjs --connect [FOLDER]';

/** Prints the program of the spoke, which is a single file of the build. */
export async function hubSpoke({ json, out }: Context): Promise<void> {
  const program = readFileSync(programFile('carrel-spoke'), 'utf8');
  if (json) return out.document({ program });
  if (out.stdout.isTTY) out.say('Redirect it into a file: carrel hub spoke > carrel-spoke.mjs');
  else out.stdout.write(program);
  out.note(`Start it at the project: ${start}`);
}
