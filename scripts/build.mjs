// Compiles src/ into dist/, removes outputs in dist/ whose sources are gone, and bundles each program into one file:
// Node takes more time to find and open a file than to read it. Programs that start often also get a code cache of V8
// (decision 85).
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { programFile, programs } from './programs.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const src = join(root, 'src');
const dist = join(root, 'dist');
const target = join(dist, 'program');

/** Not bundled: these packages have parts that are no JavaScript, or are seldom loaded. */
const external = ['better-sqlite3', 'dockerode', 'koffi', 'sqlite-vec', /^@modelcontextprotocol\//];
const [commandLine, daemon, jobThread] = ['carrel', 'daemon', 'job-thread'].map(named);
const deferredZod = join(dist, 'lib/text/deferred-zod.js');
/** Decision 86. Leaves out the messages of zod in other languages; the bundler cannot tell that they are unused. */
const deferringSchemas = {
  name: 'deferring-schemas',
  resolveId: (specifier, importer) => {
    const isOfZod = importer?.includes('/node_modules/zod/');
    if (isOfZod && specifier === '../locales/index.js') return join(dirname(importer), '../locales/en.js');
    return specifier === 'zod' && !isOfZod && importer !== deferredZod ? deferredZod : null;
  },
};
// Not incremental: a full build takes about a second, and the incremental state misses outputs that were deleted by
// hand. `npm run check` checks the types.
const compile = ['-p', 'tsconfig.build.json', '--incremental', 'false', '--noCheck'];
const tsc = spawnSync(join(root, 'node_modules/.bin/tsc'), compile, { cwd: root, stdio: 'inherit' });
if (tsc.error)
  console.error(`scripts/build.mjs: cannot run the TypeScript compiler (${tsc.error.message}); run ./setup`);
if (tsc.status !== 0) process.exit(tsc.status ?? 1);

removeOthers();
mkdirSync(target, { recursive: true });
const bundled = programs.map((program) => (program.cached ? bundleScript(program) : bundleModule(program)));
writeFileSync(join(dist, 'LICENSES'), licensesOf((await Promise.all(bundled)).flat()));
const made = { build: buildId(), builtAt: new Date().toISOString(), v8: process.versions.v8 };
writeFileSync(join(dist, 'build.json'), `${JSON.stringify(made)}\n`);
await makeCaches();

function named(name) {
  return programs.find((program) => program.name === name);
}

/** Removes outputs whose sources, and programs whose lines in the table, are gone. */
function removeOthers() {
  const files = programs.map(programFile).flatMap((file) => [file, scriptName(file), `${scriptName(file)}.cache`]);
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const output = join(entry.parentPath, entry.name);
    const isProgram = entry.parentPath === target;
    if (isProgram ? !files.includes(entry.name) : /\.c?js(\.cache)?$/.test(entry.name) && !existsSync(sourceOf(output)))
      rmSync(output);
  }
}

/**
 * The id by which a command knows whether the running daemon is of the same build. The command line itself does not
 * count.
 */
function buildId() {
  const hash = createHash('sha256');
  for (const program of programs.filter((one) => one !== commandLine))
    hash.update(readFileSync(program.cached ? scriptOf(program) : outputOf(program)));
  return hash.digest('hex').slice(0, 16);
}

function sourceOf(output) {
  return join(src, relative(dist, output).replace(/js$/, 'ts'));
}

/** The compiled module that a program starts with. */
function moduleOf({ source }) {
  return join(dist, source.replace(/ts$/, 'js'));
}

function outputOf(program) {
  return join(target, programFile(program));
}

function scriptName(file) {
  return file.replace(/js$/, 'script.js');
}

function scriptOf(program) {
  return join(target, scriptName(programFile(program)));
}

async function bundle(program, options) {
  const input = { [program.name]: moduleOf(program) };
  // Prefers the ES modules of packages with two forms: the other form of jsonc-parser cannot be bundled.
  const resolve = { mainFields: ['module', 'main'] };
  const plugins = program === daemon ? [deferringSchemas] : [];
  const build = await rolldown({ input, external, resolve, plugins, platform: 'node', logLevel: 'warn' });
  const { output } = await build.generate({ codeSplitting: false, ...options });
  await build.close();
  return { code: output[0].code, files: output[0].moduleIds };
}

/** Returns the files that are part of the bundle. */
async function bundleModule(program) {
  const { code, files } = await bundle(program, { format: programFile(program).endsWith('.cjs') ? 'cjs' : 'esm' });
  writeFileSync(outputOf(program), code);
  return files;
}

/** Writes a function expression after a line with its checksum, as `program.mjs` runs it. */
async function bundleScript(program) {
  const { code, files } = await bundle(program, { format: 'cjs', strict: true, charset: 'ascii' });
  const text = `(function (exports, require, module, __filename, __dirname, importPackage) {${asciiOf(loading(code))}\n})\n`;
  writeFileSync(scriptOf(program), `// ${createHash('sha256').update(text).digest('hex')}\n${text}`);
  copyFileSync(join(root, 'scripts/program.mjs'), outputOf(program));
  return files;
}

/** `import()` in a script is experimental in Node; `program.mjs` imports packages that are loaded on demand. */
function loading(code) {
  return code.replace(/\bimport\((?=["'][\w@])/g, 'importPackage(');
}

/** Replaces other characters than ASCII: the bundler escapes those of strings, but not those of comments. */
function asciiOf(text) {
  return text.replace(/[^\0-\x7f]/g, '?');
}

/** The daemon answers commands while both run, so both caches have the code of a usual start. */
async function makeCaches() {
  const home = mkdtempSync(join(tmpdir(), 'carrel-build-'));
  const { namespaceArgs } = await import(join(dist, 'lib/sys/namespace.js'));
  const own = [daemon, commandLine].map(scriptOf);
  const cached = programs.filter((program) => program.cached).map(scriptOf);
  for (const path of cached) rmSync(`${path}.cache`, { force: true });
  try {
    const others = cached.filter((path) => !own.includes(path));
    await Promise.all([
      makeCache(own, { CARREL_HOME: home }, namespaceArgs(process.getuid())),
      ...others.map((path) => makeCache(path === scriptOf(jobThread) ? [path, 'jobs'] : [path])),
    ]);
    // If no namespace can be made, the caches come from loading the programs alone.
    for (const path of own) if (!existsSync(`${path}.cache`)) await makeCache([path]);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function makeCache(args, extra = {}, namespaces = []) {
  const [file, ...argv] = [...namespaces, process.execPath, join(root, 'scripts/code-cache.mjs'), ...args];
  const inherited = Object.entries(process.env).filter(([name]) => !/^(CARREL|NODE)_/.test(name));
  const child = spawn(file, argv, { stdio: 'ignore', env: { ...Object.fromEntries(inherited), ...extra } });
  await new Promise((resolve) => child.on('exit', resolve).on('error', resolve));
}

/** The licenses of the packages whose files are part of the bundles. */
function licensesOf(files) {
  const packages = new Set(files.flatMap((file) => file.match(/.*\/node_modules\/(@[^/]+\/)?[^/]+(?=\/)/)?.[0] ?? []));
  const license = (folder) => readdirSync(folder).find((name) => /^licen[sc]e/i.test(name));
  return [...packages]
    .sort()
    .map((folder) => {
      const { name, version, license: kind } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const text = license(folder) ? readFileSync(join(folder, license(folder)), 'utf8') : `${kind}\n`;
      return `== ${name} ${version}\n\n${text}`;
    })
    .join('\n');
}
