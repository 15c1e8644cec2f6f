/**
 * conmon: the small process that keeps a sandbox. It runs the runtime's `create` or `exec`, holds the streams, writes
 * the log, and records the exit code, with or without a daemon.
 */
import { closeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { readerOf, writerOf } from '../../../../lib/process/piped-program.ts';
import { type StartedProgram, startProgram } from '../../../../lib/process/start-program.ts';
import { type Pipe, pipes } from '../../../../lib/sys/sys.ts';
import { Fault, spaceHint } from '../../../../model/fault.ts';

export interface KeeperOptions {
  readonly keeperPath: string;
  readonly runtimePath: string;
  /** Options of the runtime itself, before its verb. */
  readonly runtimeArgs: readonly string[];
  readonly id: string;
  readonly bundle: string;
  readonly exits: string;
  readonly log: { readonly path: string; readonly maxBytes: number } | null;
  /** Keeps the command's stdin open when an attached client detaches. */
  readonly keepStdinOpen: boolean;
  readonly terminal: boolean;
}

export interface Keeper {
  /**
   * Has the runtime create the sandbox; returns the pid of its first process. The pid of the keeper is in `keeper.pid`
   * by then.
   */
  create(): Promise<number>;
  /** Kills conmon after a failed start. */
  dismiss(): void;
}

/**
 * Starts conmon. It takes as long to load as the bundle takes to write, so both happen in parallel: conmon waits until
 * fd 4 is written. If the daemon dies before that, conmon continues, and ends when it finds no bundle or no reader of
 * its sync pipe.
 */
export function startKeeper(options: KeeperOptions): Keeper {
  const [[syncFd, syncInside], [startInside, startFd]] = pipes(2) as [Pipe, Pipe];
  const program = startConmon(options, [syncInside, startInside]);
  const [sync, start] = [readerOf(syncFd), writerOf(startFd)];
  const first = keeperMessages(program, sync).next();
  first.catch(() => {});
  return {
    create: async () => {
      start.end('\n');
      const { value } = await first.finally(() => sync.destroy());
      // The child forks the keeper, writes the keeper's pid to a file, and ends.
      await program.exited;
      return createdPid(value);
    },
    dismiss: () => {
      program.kill('SIGKILL');
      for (const stream of [sync, start]) stream.destroy();
    },
  };
}

/** conmon reports on the first pipe, waits for the second, and writes to the third when its socket exists. */
const pipeNames = ['_OCI_SYNCPIPE', '_OCI_STARTPIPE', '_OCI_ATTACHPIPE'];
const standardStreams = [null, null, null];

/** `inside`: conmon's ends of the pipes, which are closed here. */
export function startConmon(
  options: KeeperOptions,
  inside: readonly number[],
  extra: readonly string[] = [],
): StartedProgram {
  const named = inside.map((_, index) => [pipeNames[index], String(standardStreams.length + index)]);
  try {
    return startProgram(options.keeperPath, [...keeperArgs(options), ...extra], {
      stdio: [...standardStreams, ...inside],
      env: { PATH: process.env.PATH, TMPDIR: options.bundle, ...Object.fromEntries(named) },
      cwd: options.bundle,
    });
  } finally {
    for (const fd of inside) closeSync(fd);
  }
}

export function keeperArgs(options: KeeperOptions): string[] {
  const { bundle, id, log } = options;
  return [
    ...['--cid', id, '--cuuid', id, '--name', id, '--bundle', bundle, '--api-version'],
    ...['--runtime', options.runtimePath, ...options.runtimeArgs.map((arg) => `--runtime-arg=${arg}`)],
    ...['--container-pidfile', `${bundle}/pid`, '--conmon-pidfile', `${bundle}/keeper.pid`],
    ...['--exit-dir', options.exits, '--persist-dir', bundle, '--full-attach', '--no-sync-log'],
    ...(log ? ['--log-path', `k8s-file:${log.path}`, '--log-size-max', String(log.maxBytes)] : ['--log-path', 'off']),
    // Always a pipe: runtimes change the owner of the streams to the user inside, even of the host's /dev/null.
    '--stdin',
    ...(options.keepStdinOpen ? ['--leave-stdin-open'] : []),
    ...(options.terminal ? ['--terminal'] : []),
  ];
}

/** What conmon writes to its sync pipe, one JSON object per line: first the pid, for an exec also the exit code. */
export interface KeeperMessage {
  readonly data: number;
  readonly message?: string;
}

export async function* keeperMessages(program: StartedProgram, pipe: Readable): AsyncGenerator<KeeperMessage, never> {
  const failed = new Promise<never>((_, reject) => program.exited.catch(reject));
  failed.catch(() => {});
  const lines = createInterface({ input: pipe })[Symbol.asyncIterator]();
  for (;;) {
    const line = await Promise.race([lines.next(), failed]);
    if (line.done) throw new Fault('unavailable', 'conmon ended without a message', { hint: 'See carrel doctor.' });
    yield JSON.parse(line.value) as KeeperMessage;
  }
}

function createdPid(message: KeeperMessage): number {
  if (message.data > 0) return message.data;
  throw runtimeFault(message.message ?? 'the runtime gave no reason');
}

/** Messages of runtimes, and what they mean. The kernel also reports "no space" when no more namespaces may be made. */
const meanings: readonly { readonly pattern: RegExp; readonly fault: (line: string) => Fault }[] = [
  {
    pattern: /(clone|unshare|namespace).*(No space left|Operation not permitted)/i,
    fault: (line) =>
      new Fault('unsupported', `the kernel refuses to create another namespace: ${line}`, {
        hint: 'Raise the sysctls user.max_*_namespaces; carrel doctor shows them.',
      }),
  },
  {
    pattern: /No space left/i,
    fault: (line) => new Fault('exhausted', `no space left: ${line}`, { hint: spaceHint }),
  },
  {
    pattern: /Cannot allocate memory/i,
    fault: (line) => new Fault('exhausted', `no memory left: ${line}`, { hint: 'Stop some sandboxes.' }),
  },
];

/** The runtime's message as a Fault; the sandbox was not created. */
export function runtimeFault(message: string): Fault {
  const line = message.trim().split('\n').at(-1) ?? '';
  const meaning = meanings.find((one) => one.pattern.test(line));
  return (
    meaning?.fault(line) ??
    new Fault('unavailable', `the sandbox could not be created: ${line}`, { hint: 'See carrel doctor.' })
  );
}
