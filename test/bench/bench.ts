/**
 * Measures Carrel beside its peers on this machine, against the targets of the design. Prints a table, writes
 * bench-results.json, and leaves nothing else behind. A missed target is printed and does not fail the run.
 */
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { openBwrap } from './bwrap.ts';
import { Carrel } from './carrel.ts';
import { Cleanup, interruption, untilInterrupted } from './cleanup.ts';
import { openDocker } from './docker.ts';
import { machineFacts } from './machine.ts';
import { type Options, readOptions, usage } from './options.ts';
import { Projects } from './projects.ts';
import { openRaw } from './raw.ts';
import { startReaper } from './reaper.ts';
import { type Row, render } from './report.ts';
import { type Bench, measureSection } from './sections.ts';

const resultsFile = 'bench-results.json';
const interruptedExit = 130;

async function open(options: Options, cleanup: Cleanup, signal: AbortSignal): Promise<Bench> {
  say('starting the peers and the daemon');
  const wanted = options.only.some((section) => ['start', 'exec', 'docker'].includes(section));
  return {
    options,
    signal,
    cleanup,
    projects: Projects.open(cleanup),
    carrel: await Carrel.open(cleanup),
    raw: await openRaw(cleanup),
    bwrap: openBwrap(),
    docker: wanted ? await openDocker(cleanup) : 'not needed',
  };
}

async function measure(options: Options, cleanup: Cleanup, signal: AbortSignal): Promise<Row[]> {
  const bench = await open(options, cleanup, signal);
  const rows: Row[] = [];
  for (const section of options.only) {
    signal.throwIfAborted();
    say(`measuring ${section}`);
    rows.push(...(await untilInterrupted(signal, measureSection[section](bench))));
  }
  return rows;
}

async function main(options: Options): Promise<void> {
  startReaper();
  const cleanup = new Cleanup();
  const signal = interruption();
  const machine = await machineFacts();
  const startedAt = new Date();
  try {
    const rows = await measure(options, cleanup, signal);
    const seconds = Math.round((Date.now() - startedAt.getTime()) / 1000);
    const results = { at: startedAt.toISOString(), seconds, machine, loadAfter: loadavg()[0], options, rows };
    writeFileSync(resultsFile, `${JSON.stringify(results, null, 2)}\n`);
    process.stdout.write(`${render(rows)}\n${resultsFile} has the details (${seconds} s)\n`);
  } finally {
    say('cleaning up');
    if (!(await cleanup.run())) process.exitCode = 1;
    // The cancelled measurement may still run; the reaper removes what it starts from now on.
    if (signal.aborted) process.exit(interruptedExit);
  }
}

function say(text: string): void {
  process.stderr.write(`bench: ${text}\n`);
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') process.stdout.write(usage);
  else await main(options);
} catch (error) {
  say((error as Error).message);
  process.exitCode ||= 1;
}
