/** The program that containers of projects start, copied from the image into the volume that they mount. */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownBuild } from '../../../lib/file/package.ts';
import { hubToolsPath, hubToolsVolume } from '../model.ts';

/** Written last, so an interrupted copy has no note and is made again. */
const noteName = '.build';

export function installTools(from = hubToolsPath, to = hubToolsVolume): void {
  if (!existsSync(to)) return;
  const build = `${ownBuild()?.build}\n`;
  const note = join(to, noteName);
  if (existsSync(note) && readFileSync(note, 'utf8') === build) return;
  for (const name of readdirSync(to)) rmSync(join(to, name), { recursive: true });
  cpSync(from, to, { recursive: true });
  writeFileSync(note, build);
}
