/**
 * Commands of the CLI in the process of the test: the same code from the arguments to the exit code, without the 0.1 s of
 * processor time that another Node takes. With CARREL_TEST_ALL=1 every command is a process.
 *
 * A daemon that has to be started gets the environment of the installation; for another account `bin/carrel` starts it.
 */
import { Writable } from 'node:stream';
import type * as Cli from '../../src/cli/main.ts';
import type { Outcome } from './installation.ts';
import { isRepeated } from './machine.ts';

/** Those that need nothing of a process: no stdin, no terminal, no signals. */
const commands = new Set([
  ...[
    'apply',
    'audit',
    'cp',
    'create',
    'credential',
    'diff',
    'discard',
    'down',
    'engine',
    'events',
    'exec',
    'fork',
    'hub',
    'image',
  ],
  ...[
    'logs',
    'ls',
    'merge',
    'net',
    'patch',
    'port',
    'project',
    'restore',
    'rm',
    'room',
    'share',
    'show',
    'snapshot',
    'snapshots',
    'start',
    'stats',
  ],
  ...['status', 'stop', 'swarm', 'task', 'undo', 'user', 'volume', 'wait'],
]);
/** They need a terminal or stdin, or look at the folder and the account of the caller. */
const needsProcess = new Set([
  ...['-', '-f', '--follow', '-i', '-t', '-it', '--interactive', '--tty'],
  ...['--branch', '-h', '--help', '--home', 'follow', 'policy-check', 'serve', 'watch'],
]);

/** Benchmarks have no vitest. */
export const isUsed = process.env.VITEST !== undefined && !isRepeated;

const starters = new Map<string, () => Promise<unknown>>();

let cli: Promise<typeof Cli> | undefined;

/** `start` starts the daemon of this home. */
export function startBy(home: string, start: () => Promise<unknown>): void {
  starters.set(home, start);
}

export function canRunInProcess(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const own = end < 0 ? args : args.slice(0, end);
  const verb = own.find((arg) => arg !== '--json');
  // It starts the daemon and does nothing else; `up` in other ways is the daemon, or reads the folder.
  if (own.join(' ') === 'up -d') return isUsed;
  return isUsed && verb !== undefined && commands.has(verb) && !own.some((arg) => needsProcess.has(arg));
}

export async function runInProcess(home: string, args: readonly string[]): Promise<Outcome> {
  cli ??= load();
  const [{ runCommand }, { Output }] = await Promise.all([cli, import('../../src/cli/output/output.ts')]);
  const [stdout, stderr] = [new Kept(), new Kept()];
  // Git looks there for the author of changes.
  process.env.HOME = home;
  const exitCode = await runCommand(['--home', home, ...args], (json) => new Output(json, stdout, stderr, {}));
  return { exitCode, stdout: stdout.text, stderr: stderr.text };
}

async function load(): Promise<typeof Cli> {
  const { vi } = await import('vitest');
  vi.doMock('../../src/cli/connect/start-daemon.ts', () => ({
    startDaemon: async (home: string) => void (await starters.get(home)!()),
  }));
  return import('../../src/cli/main.ts');
}

/** What is written, in memory. */
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
