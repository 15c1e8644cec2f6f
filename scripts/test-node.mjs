// npm run test:node -- [VERSION] [vitest arguments]: the unit and conformance projects on another Node, from npm. In a mount namespace
// of the run it takes the place of the one in /usr, and better-sqlite3 compiled for it the place of the one in node_modules.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { namespaceArgs } from '../dist/lib/namespace.js';

const [version = '24', ...rest] = process.argv.slice(2);
const args = rest.length > 0 ? rest : ['--project', 'unit', '--project', 'conformance'];
const folder = resolve('.node', version);
const distribution = `node-linux-${process.arch}`;
const home = join(folder, 'node_modules', distribution);
const compiled = join(folder, 'node_modules/better-sqlite3');
const env = { ...process.env, PATH: [join(home, 'bin'), process.env.PATH].join(delimiter) };

if (process.versions.node.split('.')[0] !== version.split('.')[0]) {
  install();
  run([...namespaceArgs(process.getuid()), join(home, 'bin/node'), import.meta.filename, version, ...args], env);
} else {
  // Already on that Node, in the namespace of the run.
  run(['mount', '--bind', compiled, resolve('node_modules/better-sqlite3')]);
  run([placed('/usr/bin/node'), 'node_modules/vitest/vitest.mjs', 'run', ...args]);
}

/** Sandboxes and containers find Node in /usr. */
function placed(usual) {
  if (!existsSync(usual)) return process.execPath;
  run(['mount', '--bind', process.execPath, realpathSync(usual)]);
  return usual;
}

function install() {
  const addon = join(compiled, 'build/Release/better_sqlite3.node');
  const wanted = manifest();
  const file = join(folder, 'package.json');
  if (existsSync(addon) && existsSync(file) && readFileSync(file, 'utf8') === wanted) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, wanted);
  console.log(`test:node: getting Node ${version} and compiling better-sqlite3 for it, once`);
  run(['npm', 'install', '--ignore-scripts', '--no-package-lock', '--loglevel=error', '--prefix', folder]);
  run(['npm', 'rebuild', '--build-from-source', `--nodedir=${home}`, '--loglevel=error', '--prefix', folder], env);
}

function manifest() {
  const sqlite = JSON.parse(readFileSync('node_modules/better-sqlite3/package.json', 'utf8')).version;
  const dependencies = { [distribution]: version, 'better-sqlite3': sqlite };
  return JSON.stringify({ private: true, dependencies, allowScripts: { 'better-sqlite3': true } });
}

function run([program, ...argv], environment = process.env) {
  const { status, signal, error } = spawnSync(program, argv, { stdio: 'inherit', env: environment });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? (signal ? 1 : 0));
}
