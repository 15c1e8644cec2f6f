/** Brings a daemon up in the background and waits until it answers. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { programFile } from '../../lib/file/package.ts';
import { openNextLog } from '../../lib/file/rotate.ts';
import { LastBytes } from '../../lib/process/collect.ts';
import { spawnFault } from '../../lib/process/run.ts';
import { accountName } from '../../lib/sys/account.ts';
import { Fault, type FaultBody, faultTable, isFault } from '../../model/fault.ts';
import { Client } from '../client.ts';
import { socketOf } from '../dial.ts';
import { isScopeRefused, scopeArgs, scopeEnv } from './delegated-scope.ts';
import { daemonNamespaces } from './namespace.ts';

/** Long, for slow machines: a daemon that exits is noticed at once. */
const waitMs = 60_000;
/** How often the command checks whether the socket of the daemon exists; this check is cheap. */
const lookMs = 5;
/**
 * How often an existing socket is tried: it may be left from an earlier daemon. Requests delay the start, so this
 * grows.
 */
const pollMs = 15;
const pollShare = 1 / 16;
/** The exit code of a daemon whose home is locked by another daemon. */
const takenExit = 6;
/** How long the other daemon may take to answer before the command starts one again: it may be shutting down. */
const takenMs = 500;
/** How many daemons may be killed while they start before the command gives up. */
const maxKilled = 5;
/** How long the command waits for the rest of the stderr of a daemon that has exited. */
const stderrMs = 500;
const maxStderrBytes = 64 * 1024;
/** The descriptor of daemon.log in a starting daemon: until it answers, its stderr is a pipe to this command. */
const logDescriptor = 3;
/** Prefix of the line by which a daemon reports why it does not start. */
export const faultMark = 'carrel-fault: ';

/**
 * The command that starts the daemon in its namespaces. `scope`: the prefix that puts it into its own control group.
 */
export function daemonArgv(home: string, scope: readonly string[]): [string, ...string[]] {
  return [...scope, ...daemonNamespaces(home), process.execPath, programFile('daemon')] as string[] as [
    string,
    ...string[],
  ];
}

/** `env`: the environment that the daemon inherits, besides the variables made for it. */
export async function startDaemon(home: string, port?: number, env = process.env): Promise<void> {
  makeHome(home);
  const deadline = Date.now() + waitMs;
  for (let killed = 0; ; ) {
    const ended = await tryStart({ home, port, env }, deadline);
    if (ended === 'answers') return;
    if (ended === 'killed') killed += 1;
    if (killed === maxKilled) throw killedFault(home);
    if (Date.now() >= deadline) {
      throw new Fault('timeout', `the daemon did not answer within ${waitMs / 1000} s`, {
        hint: `See ${join(home, 'daemon.log')}.`,
      });
    }
  }
}

/** Makes the home so that only its owner has access; an existing home is not changed. */
export function makeHome(home: string): void {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unwritable(error, home);
  }
}

export async function isAnswering(home: string): Promise<boolean> {
  try {
    await new Client(home).call('GET /health', { signal: AbortSignal.timeout(2000) });
    return true;
  } catch (error) {
    if (isFault(error, 'unavailable') || isFault(error, 'timeout')) return false;
    throw error;
  }
}

/** The Fault that a daemon printed before it exited; if it printed none, a Fault with its last lines. */
export function startFaultFrom(log: string, exit: string): Fault {
  const lines = log.trimEnd().split('\n');
  const marked = lines.findLast((line) => line.startsWith(faultMark));
  if (marked) {
    try {
      return Fault.from(JSON.parse(marked.slice(faultMark.length)) as FaultBody);
    } catch {
      // The daemon ended while it wrote this line: its last lines are reported instead.
    }
  }
  const refused = lines.findLast((line) => /^(unshare|nsenter): /.test(line));
  if (refused) return noNamespaces(refused, process.getuid?.() === 0);
  const tail = lines.filter((line) => line !== '').slice(-10);
  // On a full disk the daemon could not even print the reason.
  if (tail.length === 0 && exit === `exit code ${faultTable.exhausted.exit}`) return noSpace('the daemon cannot start');
  return new Fault('internal', [`the daemon did not start (${exit})`, ...tail].join('\n'));
}

function noNamespaces(reason: string, isRoot: boolean): Fault {
  return new Fault('unsupported', `this account cannot have the namespaces a daemon lives in (${reason})`, {
    hint: isRoot
      ? 'In a container, allow it to mount: docker run --cap-add SYS_ADMIN --security-opt seccomp=unconfined …'
      : [
          'As root: usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER, and allow user namespaces',
          '(sysctl user.max_user_namespaces, on Ubuntu also kernel.apparmor_restrict_unprivileged_userns=0).',
        ].join(' '),
  });
}

interface Wanted {
  readonly home: string;
  /** Replaces the port in config.yaml. */
  readonly port: number | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/** How one start ended: a daemon answers, the started one was killed, or another holds the home and does not answer. */
type Ended = 'answers' | 'killed' | 'taken';

async function tryStart(wanted: Wanted, deadline: number, scope = scopeArgs()): Promise<Ended> {
  const log = openLog(wanted.home);
  try {
    return await outcome(wanted.home, launch(wanted, log, scope), deadline);
  } catch (error) {
    if (scope.length === 0 || !(error instanceof ScopeRefused)) throw error;
    return await tryStart(wanted, deadline, []);
  } finally {
    closeSync(log);
  }
}

/** systemd-run failed; the daemon is started without a scope then. */
class ScopeRefused extends Error {}

function killedFault(home: string): Fault {
  return new Fault('unavailable', `the daemon was killed ${maxKilled} times while it started`, {
    hint: `Try again. Something ends it: see ${join(home, 'daemon.log')}, and dmesg for a machine without memory.`,
  });
}

/**
 * CARREL_OWNER names the account, because in a user namespace the daemon is root. The caller's access to a shared
 * daemon is left out.
 */
export function daemonEnv(home: string, port?: number, starter = process.env): NodeJS.ProcessEnv {
  const { CARREL_SOCKET, CARREL_TOKEN, CARREL_TOKEN_FILE, ...env } = starter;
  const portEnv = port === undefined ? {} : { CARREL_PORT: String(port) };
  return { ...env, ...scopeEnv(), ...portEnv, CARREL_HOME: home, CARREL_OWNER: accountName() };
}

interface Starting {
  readonly child: ChildProcess;
  /** Resolves if the program cannot be started. */
  readonly spawnError: Promise<NodeJS.ErrnoException>;
  /** The end of the stderr of this daemon and of the programs that start it. */
  stderrEnd(): string;
}

/** Starts a daemon with a pipe as stderr, so that errors of daemons that start at the same time are not mixed. */
function launch({ home, port, env }: Wanted, log: number, scope: readonly string[]): Starting {
  const [program, ...args] = daemonArgv(home, scope);
  const child = spawn(program, args, {
    detached: true,
    cwd: '/',
    stdio: ['ignore', log, 'pipe', log],
    env: { ...daemonEnv(home, port, env), CARREL_LOG_FD: String(logDescriptor) },
  });
  const spawnError = new Promise<NodeJS.ErrnoException>((resolve) => void child.on('error', resolve));
  child.unref();
  const lastStderr = new LastBytes(maxStderrBytes);
  child.stderr?.on('data', lastStderr.push);
  child.stderr?.on('error', () => {});
  return { child, spawnError, stderrEnd: () => lastStderr.bytes.toString('utf8') };
}

async function outcome(home: string, starting: Starting, deadline: number): Promise<Ended> {
  const { child } = starting;
  const began = Date.now();
  let givesUp = deadline;
  let taken = false;
  try {
    while (Date.now() < givesUp) {
      const isBound = existsSync(socketOf(home));
      if (isBound && (await isAnswering(home))) return 'answers';
      if (!taken && hasExited(child)) {
        if (child.signalCode !== null) return 'killed';
        if (child.exitCode !== takenExit) throw await reason(starting);
        taken = true;
        givesUp = Math.min(deadline, Date.now() + takenMs);
      }
      await sleep(isBound ? Math.max(pollMs, (Date.now() - began) * pollShare) : lookMs);
    }
    return 'taken';
  } finally {
    child.stderr?.destroy();
  }
}

/** The error for a daemon that has exited before it answered. */
async function reason({ child, spawnError, stderrEnd }: Starting): Promise<Error> {
  if (child.pid === undefined) return spawnFault(child.spawnfile, await spawnError);
  const { stderr } = child;
  // A child of the daemon may keep the pipe open longer.
  if (stderr && !stderr.readableEnded) await Promise.race([once(stderr, 'end'), sleep(stderrMs)]);
  if (isScopeRefused(stderrEnd())) return new ScopeRefused();
  return startFaultFrom(stderrEnd(), `exit code ${child.exitCode}`);
}

function hasExited(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

function openLog(home: string): number {
  try {
    return openNextLog(join(home, 'daemon.log'));
  } catch (error) {
    throw unwritable(error, home);
  }
}

function noSpace(what: string, cause?: unknown): Fault {
  return new Fault('exhausted', `${what}: no space left`, { cause, hint: 'Free some space on the disk of the home.' });
}

function unwritable(error: unknown, home: string): Fault {
  const { code, message } = error as NodeJS.ErrnoException;
  const elsewhere = 'Choose another home: --home DIR or CARREL_HOME.';
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return noSpace(home, error);
  }
  if (code === 'EEXIST' || code === 'ENOTDIR' || code === 'ENAMETOOLONG' || code === 'ELOOP') {
    return new Fault('invalid', `${home} cannot be a home: ${message}`, { cause: error, hint: elsewhere });
  }
  return new Fault('denied', `${home} cannot be written: ${message}`, { cause: error, hint: elsewhere });
}
