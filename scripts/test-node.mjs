// npm run test:node -- [VERSION] [vitest arguments]: runs the unit and conformance projects on another Node. In a mount
// namespace of the run, /usr is an overlay that has that Node, and node_modules has better-sqlite3 compiled for it.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join, relative, resolve } from 'node:path';
import { namespaceArgs } from '../dist/lib/sys/namespace.js';

const [version = '24', ...rest] = process.argv.slice(2);
const args = rest.length > 0 ? rest : ['--project', 'unit', '--project', 'conformance'];
const distribution = `node-linux-${process.arch}`;
const folder = resolve('.node', version);
const home = findNode();
const compiled = join(folder, 'node_modules/better-sqlite3');
const env = { CARREL_TEST_DISK: '1', ...process.env };
const usual = '/usr/bin/node';

if (process.execPath !== join(home, 'bin/node')) {
  install();
  const program = [...namespaceArgs(process.getuid()), join(home, 'bin/node'), import.meta.filename, version, ...args];
  run(program, { ...env, CARREL_TEST_OTHER_NODE: keepThisNode() });
} else {
  // This process runs on that Node already, in the namespace of the run.
  run(['mount', '--bind', compiled, resolve('node_modules/better-sqlite3')]);
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...args];
  if (existsSync(usual)) run([replaceUsual(), ...vitest]);
  else run([process.execPath, ...vitest], { ...env, PATH: [join(home, 'bin'), env.PATH].join(delimiter) });
}

/** A copy, because the overlay hides this Node. A test needs one that has another version than the rest of the run. */
function keepThisNode() {
  const copy = join(folder, 'first-node');
  cpSync(process.execPath, copy);
  return copy;
}

/** The Node that ./setup installs for the test clients, or, if it has another version, the one that is downloaded. */
function findNode() {
  const found = resolve('test/clients/node_modules', distribution);
  return manifest(found)?.version.startsWith(`${version}.`) ? found : join(folder, 'node_modules', distribution);
}

/**
 * Sandboxes and containers find that Node in /usr. An overlay replaces it without a mount of its own, which sandboxes
 * would see.
 */
function replaceUsual() {
  const [layer, work] = [join(folder, 'usr'), join(folder, 'usr-work')];
  const node = join(layer, relative('/usr', realpathSync(usual)));
  rmSync(work, { recursive: true, force: true });
  mkdirSync(join(node, '..'), { recursive: true });
  mkdirSync(work);
  cpSync(process.execPath, node);
  const attributes = process.getuid() === 0 ? '' : ',userxattr';
  const layers = `lowerdir=/usr,upperdir=${layer},workdir=${work}${attributes}`;
  run(['mount', '-t', 'overlay', 'carrel-test', '-o', layers, '/usr']);
  return usual;
}

function install() {
  const packages = {
    node: manifest(home)?.version ?? version,
    sqlite: manifest('node_modules/better-sqlite3').version,
  };
  const stamp = join(folder, 'compiled.json');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === JSON.stringify(packages)) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true,"allowScripts":{"better-sqlite3":true}}');
  if (!existsSync(home)) download();
  compile();
  writeFileSync(stamp, JSON.stringify({ ...packages, node: manifest(home).version }));
}

function download() {
  console.log(`test:node: getting Node ${version}`);
  const options = ['--no-save', '--ignore-scripts', '--loglevel=error', '--prefix', folder];
  run(['npm', 'install', ...options, `${distribution}@${version}`]);
}

/** After a compilation by ./setup, SQLite itself is there: only the addon has to be compiled. */
function compile() {
  console.log(`test:node: compiling better-sqlite3 for Node ${version}`);
  cpSync('node_modules/better-sqlite3', compiled, { recursive: true });
  if (existsSync(join(compiled, 'build/Release/sqlite3.a'))) return compileAddon(join(compiled, 'build/Release'));
  const quick = { ...env, CFLAGS: '-O0', CXXFLAGS: '-O0', JOBS: 'max' };
  run(['npm', 'rebuild', '--build-from-source', `--nodedir=${home}`, '--loglevel=error', '--prefix', folder], quick);
}

/** Compiles as binding.gyp of better-sqlite3 does, but without optimisation, which takes most of the time. */
function compileAddon(release) {
  const headers = [join(home, 'include/node'), join(release, 'obj/gen/sqlite3')].map((path) => `-I${path}`);
  const options = ['-std=c++20', '-O0', '-fPIC', '-pthread', '-fno-rtti', '-DNODE_GYP_MODULE_NAME=better_sqlite3'];
  const link = ['-shared', '-Wl,-Bsymbolic', '-Wl,--exclude-libs,ALL', '-o', join(release, 'better_sqlite3.node')];
  const sources = [join(compiled, 'src/better_sqlite3.cpp'), join(release, 'sqlite3.a')];
  run(['g++', ...options, '-DBUILDING_NODE_EXTENSION', ...headers, ...sources, ...link]);
}

function manifest(home) {
  const file = join(home, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

function run([program, ...argv], environment = process.env) {
  const { status, signal, error } = spawnSync(program, argv, { stdio: 'inherit', env: environment });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? (signal ? 1 : 0));
}
