/**
 * The adapter as a folder that can be mounted: a launcher, our compiled code and the two packages it may load. A copy, so that
 * an installation can be renewed while sandboxes run; named after its content, and made once.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { adapterPath } from '../model/agent.ts';
import { Fault } from '../model/fault.ts';

/** What was built: we may be that ourselves, or the sources, or a build for measuring. */
export const dist = join(rootOf(import.meta.dirname), 'dist');
const parts = ['agent', 'model', 'lib'];
const packages = ['@agentclientprotocol/sdk', 'zod'];

/** Programs, and the modules they are. */
const programs = { [basename(adapterPath)]: 'main', 'demo-agent': 'demo' };

function rootOf(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : rootOf(dirname(folder));
}

/** Looks for Node where no agent can put one. */
function launcher(module: string): string {
  return `#!/bin/sh
for node in ${process.execPath} /opt/carrel/node /usr/local/bin/node /usr/bin/node; do
  [ -x "$node" ] && exec "$node" /opt/carrel/bin/lib/agent/${module}.js "$@"
done
echo "$0: there is no Node.js in this sandbox" >&2
exit 3
`;
}

interface Entry {
  readonly from: string;
  readonly to: string;
}

let known: string | undefined;

export function toolsName(): string {
  known ??= digest();
  return known;
}

export function prepareTools(folder: string): void {
  const target = join(folder, toolsName());
  if (existsSync(target)) return;
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const temporary = mkdtempSync(join(folder, 'new-'));
  for (const { from, to } of entries()) {
    mkdirSync(dirname(join(temporary, to)), { recursive: true });
    copyFileSync(from, join(temporary, to));
  }
  writeFileSync(join(temporary, 'lib/package.json'), '{"type":"module"}\n');
  for (const [name, module] of Object.entries(programs)) {
    writeFileSync(join(temporary, name), launcher(module), { mode: 0o755 });
  }
  chmodSync(temporary, 0o755);
  renameSync(temporary, target);
}

/** Those of other versions, while nothing runs that could have them mounted. */
export function sweepTools(folder: string): void {
  if (!existsSync(folder)) return;
  const others = readdirSync(folder).filter((name) => name !== toolsName());
  for (const name of others) rmSync(join(folder, name), { recursive: true, force: true });
}

function entries(): Entry[] {
  return [...ours(), ...packages.flatMap((name) => scripts(packageFolder(name), `lib/node_modules/${name}`))];
}

function ours(): Entry[] {
  return parts.flatMap((part) => scripts(join(dist, part), `lib/${part}`));
}

function scripts(folder: string, to: string): Entry[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => (name.endsWith('.js') && !name.startsWith('src/')) || basename(name) === 'package.json')
    .map((name) => ({ from: join(folder, name), to: join(to, name) }));
}

function packageFolder(name: string): string {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const found = folders.map((folder) => join(folder, name)).find((folder) => existsSync(folder));
  if (found) return found;
  throw new Fault('unsupported', `the package ${name} is not installed`, { hint: 'Run ./setup.' });
}

/** Packages never change without their version. */
function digest(): string {
  const hash = createHash('sha256').update(Object.values(programs).map(launcher).join(''));
  for (const { from, to } of ours()) hash.update(`${to}\0`).update(readFileSync(from));
  for (const name of packages) hash.update(readFileSync(join(packageFolder(name), 'package.json')));
  return hash.digest('hex').slice(0, 16);
}
