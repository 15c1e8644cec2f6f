// `code-cache.mjs SCRIPT [COMMAND_LINE | jobs]`: runs a bundled program, so that V8 compiles what a start needs, and
// writes the result beside the script when the program ends. Functions that did not run are compiled when they are
// called, as without a cache.
//
// A daemon in the home that CARREL_HOME names answers a few commands of COMMAND_LINE, which gets its cache that way,
// and ends. If no daemon can start, the cache has what V8 compiled until then. The program of the job threads gets a
// thread, and reviews, applies and undoes a few changes; the programs of other threads end at once, because they run in
// no thread.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Script } from 'node:vm';
import { isMainThread, MessageChannel, Worker, workerData } from 'node:worker_threads';

/** These commands need a daemon; a command starts one if none answers. */
const asking = [['ls'], ['status', '--json'], ['logs', 'none'], ['__complete', 'bash', '--', 'carrel show ']];
const plain = [['--help'], ['run', '--help'], ['exec', '--help']];
/** Argument of a command line that the process of the daemon started. */
const answered = 'answered';
const waitMs = 10_000;
const pollMs = 5;

const [path, second] = process.argv.slice(2);
if (second === 'jobs') {
  await doJobs(path);
  process.exit();
}
const source = readFileSync(path, 'latin1');
const script = new Script(source, { filename: path });
const program = { exports: {} };

process.on('exit', () => {
  const checksum = source.slice(0, source.indexOf('\n') + 1);
  writeFileSync(`${path}.cache`, Buffer.concat([Buffer.from(checksum, 'latin1'), script.createCachedData()]));
});
process.on('uncaughtException', () => process.exit());

script.runInThisContext()(
  program.exports,
  createRequire(path),
  program,
  path,
  dirname(path),
  (specifier) => import(specifier),
);
if (program.exports.main !== undefined) await runCommands(program.exports.main);
else if (second !== undefined) await answerCommands(second);
else if (!isMainThread) await once(workerData.end, 'message');
process.exit();

async function doJobs(script) {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-build-'));
  try {
    const { port1, port2: end } = new MessageChannel();
    const data = { scratch: folder, installation: 'build', cancel: new SharedArrayBuffer(4), end };
    const worker = new Worker(import.meta.filename, {
      argv: [script],
      workerData: data,
      transferList: [end],
      trackUnmanagedFds: false,
    });
    const ended = once(worker, 'exit');
    for (const [name, ...args] of jobsIn(folder)) {
      worker.postMessage({ name, args });
      await Promise.race([once(worker, 'message'), ended]);
    }
    port1.postMessage('end');
    await ended;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes jobs on a working copy with a changed and a new file. Without git, the project has no repository. */
function jobsIn(folder) {
  const [project, upper] = [join(folder, 'project'), join(folder, 'upper')];
  for (const at of [project, upper]) mkdirSync(join(at, 'src'), { recursive: true });
  for (const at of ['scratch', 'diff', 'trash']) mkdirSync(join(folder, at));
  writeFileSync(join(project, 'src/changed.ts'), 'one\ntwo\n');
  for (const words of [
    ['init', '--quiet'],
    ['add', '.'],
  ])
    spawnSync('git', words, { cwd: project, stdio: 'ignore' });
  writeFileSync(join(upper, 'src/changed.ts'), 'one\nthree\n');
  writeFileSync(join(upper, 'src/new.ts'), 'four\n');
  const place = { kind: 'overlay', project, base: project, live: true, marks: 'user', folder };
  const review = (scratch) => ({ place, paths: [], ignored: false, scratch: join(folder, scratch) });
  const options = { resolution: null, allow: [] };
  const journal = join(folder, 'journal');
  return [
    ['keepBases', place],
    ['reviewShown', review('scratch')],
    ['writeDiff', review('diff'), join(folder, 'changes.diff')],
    ['takeOverShown', { sources: [{ sandbox: 'one', place }], project, ignored: false, journal, options }],
    ['undoShown', journal, join(folder, 'trash')],
    ['restoreListedChanges', 'journal', [place]],
  ];
}

async function answerCommands(commandLine) {
  const deadline = Date.now() + waitMs;
  // A daemon listens for SIGTERM as soon as it answers.
  while (process.listenerCount('SIGTERM') === 0 && Date.now() < deadline) await sleep(pollMs);
  if (process.listenerCount('SIGTERM') === 0) return;
  const child = spawn(process.execPath, [import.meta.filename, commandLine, answered], { stdio: 'ignore' });
  await once(child, 'exit');
  process.kill(process.pid, 'SIGTERM');
  // The daemon exits by itself when it has ended.
  await sleep(waitMs);
}

/** Each command would end the process, so exit is replaced. */
async function runCommands(main) {
  const exit = process.exit;
  for (const argv of [...(second === answered ? asking : []), ...plain]) {
    await new Promise((resolve) => {
      process.exit = resolve;
      void main(argv);
    });
  }
  process.exit = exit;
}
