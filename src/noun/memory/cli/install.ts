/** `carrel memory install`: npm fetches exact versions with known checksums into the home; their scripts are not run. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Context, Invocation } from '../../../client/cli.ts';
import { during } from '../../../client/output/progress.ts';
import { plain } from '../../../client/output/text.ts';
import { syncTree } from '../../../lib/file/file.ts';
import { run } from '../../../lib/process/run.ts';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import {
  chromaProgram,
  type MemoryPackage,
  memoryPackages,
  type PinnedPackage,
  packageFolderName,
  packagesOf,
} from '../model/package.ts';

const installMs = 15 * 60_000;
const unfinished = /^\.(\d+)-.*\.new$/;

export async function memoryInstall(
  context: Context,
  { args, options }: Invocation<{ force?: boolean }>,
): Promise<void> {
  const what = whatOf(args[0] ?? 'chroma');
  if (context.socket !== null)
    throw new Fault('denied', 'only the owner of the installation installs packages for the memory');
  const folder = join(context.home, 'packages');
  const target = join(folder, packageFolderName(what));
  const isThere = existsSync(target) && options.force !== true;
  const packages = packagesFor(what);
  if (!isThere) {
    const sizes = what === 'chroma' ? '110 MB to fetch, 420 MB on disk' : '26 MB to fetch, 32 MB on disk';
    context.out.note(`installing ${what}: ${sizes}`);
    await during(context.out, `npm installs ${what}`, install(folder, target, what, packages));
  }
  report(context, { what, packages, folder: target, isThere });
}

interface Installed {
  readonly what: MemoryPackage;
  readonly packages: readonly PinnedPackage[];
  readonly folder: string;
  readonly isThere: boolean;
}

function report({ json, out }: Context, { what, packages, folder, isThere }: Installed): void {
  const versions = packages.map(({ name, version }) => ({ name, version }));
  if (json) return void out.document({ installed: what, folder, packages: versions, already: isThere });
  const named = versions.filter(({ name }) => /chroma|energetic/.test(name));
  out.print(...named.map(({ name, version }) => `${name} ${version}`));
  if (isThere) out.note('it was there already; --force installs it again');
  const setting = what === 'chroma' ? 'chroma: {server: local}' : 'embedding: {url: local}';
  out.note(`to use it, write to config.yaml: memory: {${setting}}`);
}

function whatOf(text: string): MemoryPackage {
  const what = memoryPackages.find((one) => one === text);
  if (what !== undefined) return what;
  throw new Fault('invalid', `${printable(text)} is not a package of the memory`, {
    hint: `There are ${memoryPackages.join(' and ')}.`,
  });
}

function packagesFor(what: MemoryPackage): readonly PinnedPackage[] {
  const packages = packagesOf(what, process.arch);
  if (packages !== null) return packages;
  throw new Fault('unsupported', `there is no Chroma server for the processor ${process.arch}`, {
    hint: 'Use one that runs elsewhere: memory: {chroma: {server: http://HOST:8000}} in config.yaml.',
  });
}

/** Installs under a temporary name, and renames when the package is complete and was tried. */
async function install(
  folder: string,
  target: string,
  what: MemoryPackage,
  packages: readonly PinnedPackage[],
): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  removeUnfinished(folder);
  const fresh = join(folder, `.${process.pid}-${what}.new`);
  try {
    mkdirSync(fresh, { mode: 0o700 });
    writeLock(fresh, what, packages);
    await fetchAll(fresh);
    if (what === 'chroma') await tryServer(fresh);
    syncTree(fresh);
    // A running server keeps its open files.
    rmSync(target, { recursive: true, force: true });
    renameSync(fresh, target);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Removes what earlier commands left when they were killed. */
function removeUnfinished(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = unfinished.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Writes the lock file, by which npm refuses a package with another checksum. */
function writeLock(folder: string, what: MemoryPackage, packages: readonly PinnedPackage[]): void {
  const dependencies = Object.fromEntries(packages.map(({ name, version }) => [name, version]));
  const root = { name: `carrel-${what}`, version: '1.0.0', private: true, dependencies };
  const entries = packages.map(({ name, version, integrity }) => [`node_modules/${name}`, { version, integrity }]);
  const lock = { ...root, lockfileVersion: 3, requires: true, packages: { '': root, ...Object.fromEntries(entries) } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(root));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
}

async function fetchAll(folder: string): Promise<void> {
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  const retries = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000'];
  const argv = ['npm', 'ci', '--prefix', folder, '--ignore-scripts', '--omit=optional', ...quiet, ...retries] as const;
  const { exitCode, stderr } = await run(argv, installMs);
  if (exitCode === 0) return;
  const lines = stderr
    .split('\n')
    .filter((line) => /^npm error (?!A complete log|code |errno |syscall |address |port )/.test(line));
  const why = lines.map((line) => line.replace(/^npm error (network )?/, '').trim()).find((line) => line !== '');
  const isOffline = /ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|ECONNRESET/.test(stderr);
  throw new Fault('unavailable', `npm could not fetch it: ${plain(why ?? `exit code ${exitCode}`).slice(0, 300)}`, {
    hint: isOffline
      ? 'This machine does not reach the npm registry: check the network, or set a registry with npm config set registry URL.'
      : 'Try again with: carrel memory install --force',
  });
}

/** Starts the compiled server once: it may need a newer system than this one. */
async function tryServer(folder: string): Promise<void> {
  const { exitCode, stderr } = await run([process.execPath, join(folder, chromaProgram), '--help']);
  if (exitCode === 0) return;
  const why = /GLIBC_[0-9.]+[^\n]*|Error: [^\n]+/.exec(stderr)?.[0] ?? `exit code ${exitCode}`;
  throw new Fault('unsupported', `the Chroma server does not start on this system: ${printable(why)}`, {
    hint: 'Use one that runs elsewhere: memory: {chroma: {server: http://HOST:8000}} in config.yaml.',
  });
}
