/** The folders of installed packages and of what they depend on. */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageFolder } from './package.ts';

/**
 * The folders by package name, without those in `leftOut`. A package that npm did not install, as for platforms that it
 * does not support, is left out, too.
 */
export function packageFolders(names: readonly string[], leftOut: readonly string[] = []): Map<string, string> {
  const found = new Map<string, string>();
  const seen = new Set<string>();
  const queue = names.map((name) => ({ name, from: packageFolder }));
  for (const { name, from } of queue) {
    const folder = lookUp(name, from);
    if (folder === null || seen.has(folder) || leftOut.includes(name)) continue;
    seen.add(folder);
    // A folder inside that of another package comes with the other one.
    if (![...found.values()].some((other) => folder.startsWith(`${other}/`))) found.set(name, folder);
    queue.push(...dependenciesOf(folder).map((one) => ({ name: one, from: folder })));
  }
  return found;
}

/** Finds a package as Node does. */
function lookUp(name: string, from: string): string | null {
  const folder = join(from, 'node_modules', name);
  // Some package managers install links, and a mount follows none.
  if (existsSync(join(folder, 'package.json'))) return realpathSync(folder);
  return from === dirname(from) ? null : lookUp(name, dirname(from));
}

function dependenciesOf(folder: string): string[] {
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    dependencies?: Readonly<Record<string, string>>;
  };
  return Object.keys(dependencies);
}
