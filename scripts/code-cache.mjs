// `code-cache.mjs SCRIPT [COMMAND_LINE]`: runs a program that the build made, so that V8 compiles what a start needs, and writes the result
// beside the script when the program ends. Functions that did not run are compiled when they are called, as without a cache.
//
// A daemon, in the home that CARREL_HOME names, answers a few commands of COMMAND_LINE, which gets its cache that way, and ends.
// Where none can start, the cache has what V8 compiled until then. A program of a thread ends for want of its thread.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Script } from 'node:vm';

/** The first ones need a daemon; a command starts one where none answers. */
const asking = [['ls'], ['status', '--json'], ['logs', 'none']];
const plain = [['--help'], ['run', '--help'], ['exec', '--help']];
/** Of a command line that is started by the daemon. */
const answered = 'answered';
const waitMs = 10_000;
const pollMs = 5;

const [path, second] = process.argv.slice(2);
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
process.exit();

async function answerCommands(commandLine) {
  const deadline = Date.now() + waitMs;
  // A daemon listens for it as soon as it answers.
  while (process.listenerCount('SIGTERM') === 0 && Date.now() < deadline) await sleep(pollMs);
  if (process.listenerCount('SIGTERM') === 0) return;
  const child = spawn(process.execPath, [import.meta.filename, commandLine, answered], { stdio: 'ignore' });
  await once(child, 'exit');
  process.kill(process.pid, 'SIGTERM');
  // It exits by itself when it has ended.
  await sleep(waitMs);
}

/** Each ends the process, which here goes on. */
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
