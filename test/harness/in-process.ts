/**
 * Commands of the CLI in the process of the test: the same code from the arguments to the exit code, without the 0.1 s of
 * processor time that another Node takes. With CARREL_TEST_ALL=1 every command is a process.
 *
 * A daemon that has to be started gets the environment of the installation; `bin/carrel` starts it for another account.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { fleetFileName } from '../../src/client/project-file/file.ts';
import type { Outcome } from './installation.ts';
import { isRepeated } from './machine.ts';

/** Commands that need no process: no stdin, no terminal, no signals. */
const commands = new Set(
  [
    'apply audit clean compare cp create credential diff discard down du engine events exec fetch fork hub image log logs ls',
    'memory merge net patch port project restore rm room run secret session share show snapshot snapshots start stats',
    'status stop swarm task undo user volume wait',
  ].flatMap((line) => line.split(' ')),
);
/** Arguments that need a process: for a terminal or stdin, or for the account of the caller. */
const needsProcess = new Set([
  ...['-', '-f', '--follow', '-i', '-t', '-it', '--interactive', '--tty'],
  ...['--branch', '-h', '--help', '--home', 'follow', 'policy-check', 'serve', 'watch'],
]);

/** Benchmarks have no vitest. */
export const isUsed = process.env.VITEST !== undefined && !isRepeated;

/** Variables that only the command itself reads: a daemon or another program that it starts gets none of these. */
const variables = new Set(['CARREL_SOCKET', 'CARREL_TOKEN', 'CARREL_TOKEN_FILE']);
const here = process.cwd();

const starters = new Map<string, () => Promise<unknown>>();

/** `start` starts the daemon of this home. */
export function startBy(home: string, start: () => Promise<unknown>): void {
  starters.set(home, start);
}

/** What a command gets besides its arguments. */
export interface Surroundings {
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export function canRunInProcess(args: readonly string[], { input = '', env = {}, cwd }: Surroundings): boolean {
  if (!isUsed || input.length > 0 || !Object.keys(env).every((name) => variables.has(name))) return false;
  const end = args.indexOf('--');
  const own = end < 0 ? args : args.slice(0, end);
  const verb = own.find((arg) => arg !== '--json');
  // `up -d` starts the daemon and does nothing else. Without a fleet, `up` itself is the daemon.
  if (own.join(' ') === 'up -d') return true;
  const isFleet = verb === 'up' && cwd !== undefined && existsSync(join(cwd, fleetFileName));
  return verb !== undefined && (isFleet || commands.has(verb)) && !own.some((arg) => needsProcess.has(arg));
}

const ownHome = process.env.HOME;
let running = 0;
let isElsewhere = false;

/**
 * Null: the command needs a process, because another command runs here, and one of them has a folder or an environment
 * of its own.
 */
export async function runInProcess(
  home: string,
  args: readonly string[],
  { env = {}, cwd = here }: Surroundings,
): Promise<Outcome | null> {
  const wantsElsewhere = cwd !== here || Object.keys(env).length > 0;
  if (isElsewhere || (wantsElsewhere && running > 0)) return null;
  running += 1;
  isElsewhere = wantsElsewhere;
  process.chdir(cwd);
  // Git looks there for the author of changes.
  process.env.HOME = home;
  // With an option for the home the variables would have no effect.
  const isByEnv = Object.keys(env).length > 0;
  Object.assign(process.env, isByEnv ? { ...env, CARREL_HOME: home } : {});
  try {
    return await perform(isByEnv ? args : ['--home', home, ...args]);
  } finally {
    running -= 1;
    isElsewhere = false;
    process.chdir(here);
    for (const name of Object.keys(env)) delete process.env[name];
    // A program of a later test would make its files in a home that is removed by then.
    if (running === 0) restoreHome();
  }
}

function restoreHome(): void {
  if (ownHome === undefined) delete process.env.HOME;
  else process.env.HOME = ownHome;
}

async function perform(args: readonly string[]): Promise<Outcome> {
  await replaceStart();
  const { runCommand } = await import('../../src/client/main.ts');
  const { Output } = await import('../../src/client/output/output.ts');
  const [stdout, stderr] = [new Kept(), new Kept()];
  const exitCode = await runCommand(args, (json) => new Output(json, stdout, stderr, {}));
  return { exitCode, stdout: stdout.text, stderr: stderr.text };
}

/**
 * Called for each command: a command is loaded when it is first used, and vitest drops the replacement after each file.
 */
async function replaceStart(): Promise<void> {
  const { vi } = await import('vitest');
  vi.doMock('../../src/client/connect/start-daemon.ts', () => ({
    startDaemon: async (home: string) => void (await starters.get(home)!()),
  }));
}

/** Keeps what is written in memory. */
class Kept extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}
