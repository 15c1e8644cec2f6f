// npm run quick [-- REF]: checks what you edited: types (incrementally), Biome on the changed files, and the unit tests
// that reach one of them. Edited is what differs from HEAD, or, when all is committed, from the upstream or main; REF
// names another commit. It says which changed tests it does not run.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const bin = 'node_modules/.bin';
/** Two worktrees can share a folder of modules by a link; each has its own state of the compiler there. */
const worktree = createHash('sha256').update(process.cwd()).digest('hex').slice(0, 12);
const state = `node_modules/.cache/quick-${worktree}.tsbuildinfo`;
/** Not the manifest: for its sake vitest would run all tests. */
const isImported = (path) => /^(src|test|scripts)\/.*\.(ts|cts|mjs|json)$/.test(path);
const isUnit = (path) => /^(src\/.*|test\/[^/]*)\.test\.ts$/.test(path);
/** What reads sources or documents as text depends on them without an import. */
const readsSources = (path) => /^\/\/ @reads sources$/m.test(readFileSync(path, 'utf8').slice(0, 500));

const { base, changed } = edited();
if (changed.length === 0) {
  console.log(`quick: nothing differs from ${base}`);
} else {
  console.log(`quick: ${changed.length === 1 ? changed[0] : `${changed.length} files`}, compared with ${base}`);
  const present = changed.filter((path) => existsSync(path));
  const results = await Promise.all([types(), style(present), tests(present)]);
  sayNotRun(present);
  process.exitCode = results.every((isGood) => isGood) ? 0 : 1;
}

function edited() {
  const asked = process.argv[2];
  if (asked !== undefined) return { base: asked, changed: changedSince(mergeBase(asked)) };
  const own = changedSince('HEAD');
  const upstream = ['@{upstream}', 'main@{upstream}', 'main'].find((name) => git('rev-parse', '-q', '--verify', name));
  if (own.length > 0 || upstream === undefined) return { base: 'HEAD', changed: own };
  return { base: upstream, changed: changedSince(mergeBase(upstream)) };
}

function mergeBase(name) {
  const commit = git('merge-base', 'HEAD', name);
  if (commit !== '') return commit;
  console.error(`scripts/quick.mjs: git knows no common commit of HEAD and ${name}`);
  process.exit(2);
}

/** Removed files, too: their importers no longer compile. */
function changedSince(commit) {
  const tracked = git('diff', '--name-only', '--no-renames', '-z', commit);
  const untracked = git('ls-files', '--others', '--exclude-standard', '-z');
  return [...new Set(`${tracked}\0${untracked}`.split('\0'))].filter(Boolean).sort();
}

/** Empty: git failed, for example because there is no such name. */
function git(...args) {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return status === 0 ? stdout.trim() : '';
}

function types() {
  return run('types', `${bin}/tsc`, ['-p', 'tsconfig.json', '--noEmit', '--incremental', '--tsBuildInfoFile', state]);
}

function style(files) {
  const options = ['check', '--error-on-warnings', '--no-errors-on-unmatched'];
  return files.length === 0 ? true : run('Biome', `${bin}/biome`, [...options, ...files]);
}

function tests(files) {
  const readers = readdirSync('test')
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/${name}`);
  const reached = [...files.filter(isImported), ...readers.filter(readsSources)];
  const options = ['related', '--run', '--project', 'unit', '--passWithNoTests', '--reporter', 'minimal'];
  return run('unit tests', `${bin}/vitest`, [...options, ...reached]);
}

/** Prints what the program said in one piece when it ends, since others run at the same time. True: it succeeded. */
async function run(what, program, args) {
  const begun = Date.now();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  const seconds = ((Date.now() - begun) / 1000).toFixed(1);
  if (code !== 0) console.log(output.trim());
  console.log(`quick: ${what} ${code === 0 ? 'good' : 'FAILED'}, ${seconds} s`);
  return code === 0;
}

function sayNotRun(files) {
  const real = files.filter((path) => path.endsWith('.test.ts') && !isUnit(path));
  if (real.length > 0) console.log(`quick: not run: npm run build && node scripts/test.mjs ${real.join(' ')}`);
}
