/**
 * Makes a program of many packages, and npm's cache with all of them: `npm ci --offline` needs nothing else. The
 * packages are made up; tarballs and lock file have npm's format.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { output } from './program.ts';

const filesEach = 10;
const version = '1.0.0';

interface Locked {
  readonly version: string;
  readonly resolved: string;
  readonly integrity: string;
}

/** Writes the program into a folder; nothing reads the scratch folder afterwards. */
export async function addPackages(folder: string, scratch: string, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => `made-up-${index}`);
  const locked: [string, Locked][] = [];
  for (const name of names) locked.push([name, await addPackage(folder, scratch, name)]);
  const root = { name: 'program', version, dependencies: Object.fromEntries(names.map((name) => [name, version])) };
  const packages = Object.fromEntries(locked.map(([name, lock]) => [`node_modules/${name}`, lock]));
  writeJson(join(folder, 'package.json'), root);
  writeJson(join(folder, 'package-lock.json'), { ...root, lockfileVersion: 3, packages: { '': root, ...packages } });
}

async function addPackage(folder: string, scratch: string, name: string): Promise<Locked> {
  const content = join(scratch, name, 'package');
  mkdirSync(join(content, 'lib'), { recursive: true });
  writeJson(join(content, 'package.json'), { name, version });
  for (let index = 1; index < filesEach; index += 1) {
    writeFileSync(join(content, `lib/part-${index}.js`), `module.exports = '${name} ${index}';\n`.repeat(20));
  }
  const tarball = join(scratch, `${name}.tgz`);
  await output(['tar', '-C', join(scratch, name), '-czf', tarball, 'package']);
  const digest = createHash('sha512').update(readFileSync(tarball)).digest();
  put(join(folder, '.npm-cache', contentPath(digest.toString('hex'))), readFileSync(tarball));
  const resolved = `https://registry.npmjs.org/${name}/-/${name}-${version}.tgz`;
  return { version, resolved, integrity: `sha512-${digest.toString('base64')}` };
}

/** The path in the cache for content with this digest. */
function contentPath(hex: string): string {
  return join('_cacache/content-v2/sha512', hex.slice(0, 2), hex.slice(2, 4), hex.slice(4));
}

function put(path: string, content: Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function writeJson(path: string, value: object): void {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
