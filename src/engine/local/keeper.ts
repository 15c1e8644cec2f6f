/**
 * conmon: the small process that keeps a sandbox. It runs the runtime's `create` or `exec`, holds the streams, writes
 * the log, and records the exit code, with or without a daemon.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { spawnFault } from '../../lib/run.ts';
import { Fault, spaceHint } from '../../model/fault.ts';

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
  /** Ends it if it has not created anything. */
  dismiss(): void;
}

/**
 * Starts conmon. It takes as long to load as the bundle takes to write, so both happen in parallel: conmon waits until
 * fd 4 is written. If the daemon dies before that, conmon continues, and ends when it finds no bundle or no reader of
 * its sync pipe.
 */
export function startKeeper(options: KeeperOptions): Keeper {
  const child = spawn(options.keeperPath, keeperArgs(options), {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, TMPDIR: options.bundle, _OCI_SYNCPIPE: '3', _OCI_STARTPIPE: '4' },
    cwd: options.bundle,
    ...withoutGroups(),
  });
  const [sync, start] = child.stdio.slice(3) as [Readable | undefined, Writable | undefined];
  const first = keeperMessages(child, sync).next();
  first.catch(() => {});
  // The child forks another process of the same name, writes its pid to a file, and ends.
  const noted = new Promise((resolve) => child.on('exit', resolve));
  start?.on('error', () => {});
  return {
    create: async () => {
      start?.end('\n');
      const { value } = await first.finally(() => sync?.destroy());
      await noted;
      return createdPid(value);
    },
    dismiss: () => void child.kill('SIGKILL'),
  };
}

/** Node drops supplementary groups of a child whose ids are set, even to the same ids. */
export function withoutGroups(): { readonly uid: number; readonly gid: number } {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
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

export async function* keeperMessages(
  child: ChildProcess,
  pipe: Readable | undefined,
): AsyncGenerator<KeeperMessage, never> {
  const failed = new Promise<never>((_, reject) => child.on('error', (error) => reject(spawnFault('conmon', error))));
  failed.catch(() => {});
  if (!pipe) await failed;
  const lines = createInterface({ input: pipe! })[Symbol.asyncIterator]();
  for (;;) {
    const line = await Promise.race([lines.next(), failed]);
    if (line.done) throw new Fault('unavailable', 'conmon ended without a message', { hint: 'See carrel doctor.' });
    yield JSON.parse(line.value) as KeeperMessage;
  }
}

function createdPid(word: KeeperMessage): number {
  if (word.data > 0) return word.data;
  throw runtimeFault(word.message ?? 'the runtime gave no reason');
}

/** Messages of runtimes, and what they mean. The kernel also reports "no space" when no more namespaces may be made. */
const meanings: readonly { readonly said: RegExp; readonly fault: (said: string) => Fault }[] = [
  {
    said: /(clone|unshare|namespace).*(No space left|Operation not permitted)/i,
    fault: (said) =>
      new Fault('unsupported', `the kernel makes no more namespaces: ${said}`, {
        hint: 'Raise the sysctls user.max_*_namespaces; carrel doctor shows them.',
      }),
  },
  {
    said: /No space left/i,
    fault: (said) => new Fault('exhausted', `no space left: ${said}`, { hint: spaceHint }),
  },
  {
    said: /Cannot allocate memory/i,
    fault: (said) => new Fault('exhausted', `no memory left: ${said}`, { hint: 'Stop some sandboxes.' }),
  },
];

/** The runtime's message as a Fault; the sandbox was not created. */
export function runtimeFault(message: string): Fault {
  const said = message.trim().split('\n').at(-1) ?? '';
  const meaning = meanings.find((one) => one.said.test(said));
  return (
    meaning?.fault(said) ??
    new Fault('unavailable', `the sandbox could not be created: ${said}`, { hint: 'See carrel doctor.' })
  );
}
