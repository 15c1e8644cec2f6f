// npm run house -- walks: the files of src in which a function ran during a usual command that does not run when nothing is
// asked for as long. It measures the command line, the daemon and its threads, not programs in sandboxes, and
// needs a build and an engine. The programs of the build are replaced by the modules as they are compiled, in a copy.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { programFile, programs } from './programs.mjs';

/** Longer than all processes take to see a trigger. */
const settleMs = 600;
const walks = {
  run: ['run', '.', '--', 'true'],
  apply: ['apply', 'walk'],
  'room post': ['room', 'post', 'walk', 'hello'],
  'hub call': ['hub', 'call', 'read_file', '{"project":"walk","path":"file"}'],
  'session send': ['session', 'send', 'walk', '--agent', 'demo', 'hello'],
};
/** What makes a walk possible again, and is not counted. */
const preparations = { apply: ['exec', 'walk', 'sh', '-c', 'date +%N > changed'] };

const folder = mkdtempSync(join(tmpdir(), 'carrel-walks-'));
const carrelPackage = join(folder, 'package');
try {
  makePackage();
  for (const [name, args] of Object.entries(walks)) await walkAlone(name, args);
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

/** In an installation of its own: what the daemon does for the sandboxes of another walk would be in the way. */
async function walkAlone(name, args) {
  const place = join(folder, name.replace(' ', '-'));
  const carrel = carrelAt(place);
  try {
    mkdirSync(join(place, 'walk'), { recursive: true });
    writeFileSync(join(place, 'walk/file'), 'text\n');
    carrel('create', '.', '--name', 'walk', '--', 'sleep', 'infinity');
    carrel('room', 'create', 'walk');
    carrel('project', 'add', '.');
    await walk(name, args, carrel);
  } finally {
    carrel('rm', '--force', '--all', '--yes');
    carrel('down');
  }
}

function makePackage() {
  mkdirSync(carrelPackage);
  mkdirSync(join(folder, 'counted'));
  trigger('between');
  for (const name of ['bin', 'dist', 'package.json']) cpSync(name, join(carrelPackage, name), { recursive: true });
  for (const name of ['node_modules', 'src', 'schema'])
    symlinkSync(join(process.cwd(), name), join(carrelPackage, name));
  cpSync(join(import.meta.dirname, 'house-coverage.mjs'), join(carrelPackage, 'coverage.mjs'));
  for (const program of programs) if (!isInside(program)) unbundle(program);
}

/** Programs in sandboxes are one file each, and stay what they are. */
function isInside({ source }) {
  return source.includes('/inside/') || source.endsWith('.cts');
}

function unbundle(program) {
  const file = join(carrelPackage, 'dist/program', programFile(program));
  const module = `../${program.source.replace(/ts$/, 'js')}`;
  writeFileSync(file, `import '../../coverage.mjs';\nexport * from '${module}';\n`);
}

/** Runs commands in the project `walk` of an installation. */
function carrelAt(place) {
  const env = { ...process.env, CARREL_HOME: join(place, 'home'), CARREL_WALKS: folder };
  return (...args) => {
    const argv = [join(carrelPackage, 'bin/carrel'), ...args];
    const options = { cwd: join(place, 'walk'), env, encoding: 'utf8', timeout: 120_000 };
    const { status, stdout, stderr } = spawnSync(process.execPath, argv, options);
    if (status !== 0) throw new Error(`carrel ${args.join(' ')} ended with ${status}: ${stdout}${stderr}`);
  };
}

/** The first time opens and loads what stays, and is not measured. */
async function walk(name, args, carrel) {
  const once = async (time) => {
    if (preparations[name]) carrel(...preparations[name]);
    return counted(`${time}-${name}`, () => carrel(...args));
  };
  await once('first');
  const begun = Date.now();
  const called = await once('second');
  const spent = Date.now() - begun;
  const idle = await counted(`idle-${name}`, () => sleep(spent));
  const own = [...called].filter((one) => !idle.has(one));
  print(name, [...new Set(own.map((one) => one.split(' ')[0]))]);
}

/** The functions that any process called meanwhile, as `FILE OFFSET`. */
async function counted(name, act) {
  await sleep(settleMs);
  trigger(name);
  await sleep(settleMs);
  await act();
  await sleep(settleMs);
  trigger('between');
  await sleep(settleMs);
  const notes = readdirSync(join(folder, 'counted')).filter((file) => file.startsWith(`${name}-`));
  return new Set(
    notes.flatMap((file) =>
      readFileSync(join(folder, 'counted', file), 'utf8')
        .split('\n')
        .filter(Boolean),
    ),
  );
}

function trigger(text) {
  writeFileSync(join(folder, 'trigger'), text);
}

function print(name, files) {
  const core = files.filter((file) => !/^(lib|model)\//.test(file));
  const nouns = new Set(core.flatMap((file) => /^noun\/([^/]+)\//.exec(file)?.[1] ?? []));
  console.log(`${name}: ${files.length} files, ${core.length} without lib and model, ${nouns.size} nouns`);
  if (process.argv.includes('--files')) for (const file of files.sort()) console.log(`  ${file.replace(/js$/, 'ts')}`);
}
