import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Fault } from '../../model/fault.ts';
import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { isScopeRefused, scopeArgs } from '../connect/delegated-scope.ts';
import { daemonArgv, daemonEnv, faultMark, isAnswering, lastWords, makeHome } from '../connect/start-daemon.ts';
import { catchSignals } from '../signals.ts';

const keptLines = 50;

interface Options {
  readonly detach?: boolean;
  readonly file?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export default async function up(context: Context, { options }: Invocation<Options>): Promise<number> {
  const { openFleetFile, requireFleetFile } = await import('../fleet/file.ts');
  const file = options.dryRun || options.yes ? requireFleetFile(options.file) : openFleetFile(options.file);
  if (file !== null) return (await import('../fleet/up.ts')).bringUp(context, file, options);
  return options.detach ? background(context) : foreground(context);
}

async function background(context: Context): Promise<number> {
  const status = await connect(context).call('GET /v1/status');
  if (context.json) context.out.document(status);
  else context.out.print(`the daemon is running, pid ${status.pid}`);
  return 0;
}

async function foreground(context: Context): Promise<number> {
  if (context.socket !== null) throw notOurs();
  makeHome(context.home);
  if (await isAnswering(context.home)) {
    throw new Fault('conflict', 'the daemon is already running', { hint: 'carrel status; carrel down' });
  }
  const scope = scopeArgs();
  let { code, signal, words } = await runHere(context.home, scope);
  if (code !== 0 && scope.length > 0 && isScopeRefused(words)) {
    ({ code, signal, words } = await runHere(context.home, []));
  }
  if (code === 0) return 0;
  if (signal === 'SIGINT' || signal === 'SIGTERM') return 130;
  throw lastWords(words, signal ?? `exit code ${code}`);
}

function notOurs(): Fault {
  return new Fault('invalid', 'CARREL_SOCKET names a daemon that others run', {
    hint: 'For a daemon of your own, unset CARREL_SOCKET or name a home: carrel --home DIR up',
  });
}

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly words: string;
}

/** In a session of its own, so that Ctrl-C reaches it once: through us. */
function runHere(home: string, scope: readonly string[]): Promise<Ended> {
  const [program, ...args] = daemonArgv(home, scope);
  const child = spawn(program, args, {
    detached: true,
    stdio: ['ignore', 'inherit', 'pipe'],
    env: daemonEnv(home),
  });
  const release = catchSignals((signal) => void child.kill(signal));
  const words: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    words.push(line);
    words.splice(0, words.length - keptLines);
    if (!line.startsWith(faultMark)) process.stderr.write(`${line}\n`);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      release();
      resolve({ code, signal, words: words.join('\n') });
    });
  });
}
