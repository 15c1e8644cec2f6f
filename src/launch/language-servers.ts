/** The language servers that come with Carrel, mounted into the sandboxes of projects. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { packageFolder } from '../lib/package.ts';
import type { Mount } from '../model/mount.ts';
import { languageServersPath } from '../model/spoke.ts';

/** Folders of packages by the name that they have inside. */
const packages: Readonly<Record<string, string>> = {
  typescript: `@typescript/typescript-linux-${process.arch}`,
};

export function languageServers(): Mount[] {
  return Object.entries(packages).flatMap(([name, wanted]) => {
    const source = folderOf(wanted);
    return source === null ? [] : [{ kind: 'bind', source, target: `${languageServersPath}/${name}`, readonly: true }];
  });
}

/** Null: npm left it out, as it does for a platform that a package does not support. */
function folderOf(name: string): string | null {
  const folders = createRequire(join(packageFolder, 'package.json')).resolve.paths(name) ?? [];
  return folders.map((folder) => join(folder, name)).find((folder) => existsSync(folder)) ?? null;
}
