/**
 * Mounts the language servers that come with Carrel into the sandboxes of projects: the folders of their packages and
 * dependencies.
 */
import { packageFolders } from '../../../lib/file/package-folders.ts';
import type { Mount } from '../../../model/mount.ts';
import { languageServersPath } from '../../hub/model/spoke.ts';

const packages = [
  `@typescript/typescript-linux-${process.arch}`,
  'pyright',
  'bash-language-server',
  'yaml-language-server',
];

let known: readonly Mount[] | undefined;

export function languageServers(): readonly Mount[] {
  known ??= [...packageFolders(packages)].map(([name, source]) => {
    return { kind: 'bind', source, target: `${languageServersPath}/node_modules/${name}`, readonly: true };
  });
  return known;
}
