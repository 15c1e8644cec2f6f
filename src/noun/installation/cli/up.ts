import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { isScopeRefused, scopeArgs } from '../../../client/connect/delegated-scope.ts';
import {
  daemonArgv,
  daemonEnv,
  faultMark,
  isAnswering,
  makeHome,
  startFaultFrom,
} from '../../../client/connect/start-daemon.ts';
import { catchSignals } from '../../../client/signals.ts';
import { Fault } from '../../../model/fault.ts';

const keptLines = 50;

interface Options {
  readonly detach?: boolean;
  readonly file?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly port?: string;
}

export async function up(context: Context, { options }: Invocation<Options>): Promise<number> {
  const { openFleetFile, requireFleetFile } = await import('../../../client/project-file/file.ts');
  const file = options.dryRun || options.yes ? requireFleetFile(options.file) : openFleetFile(options.file);
  const port = portOf(options.port);
  if (file !== null) {
    if (port !== undefined) await background(context, port);
    return (await import('../../project/cli/fleet-up.ts')).bringUp(context, file, options);
  }
  return options.detach ? background(context, port) : foreground(context, port);
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) < 65536) return Number(text);
  throw new Fault('invalid', `--port ${text}: not a port`, {
    hint: 'A number from 1 to 65535, or 0 for any free port.',
  });
}

async function background(context: Context, port: number | undefined): Promise<number> {
  const status = await withPort(context, port);
  if (context.json) context.out.document(status);
  else
    context.out.print(`the daemon is running, pid ${status.pid}${status.mcp === null ? '' : `, MCP at ${status.mcp}`}`);
  return 0;
}

/** A daemon that already runs keeps its port, so asking for another port is a conflict. */
async function withPort(context: Context, port: number | undefined) {
  const status = await connect(context, port).call('GET /v1/status');
  if (port === undefined || (status.mcp !== null && (port === 0 || new URL(status.mcp).port === String(port))))
    return status;
  const other = status.mcp === null ? 'without a port' : `and listens at ${status.mcp}`;
  throw new Fault('conflict', `the daemon is already running, ${other}`, {
    hint: `carrel down, then carrel up -d --port ${port}. Sandboxes go on meanwhile. http.port in config.yaml keeps a port for every start.`,
  });
}

async function foreground(context: Context, port: number | undefined): Promise<number> {
  if (context.socket !== null) throw foreignDaemon();
  makeHome(context.home);
  if (await isAnswering(context.home)) {
    throw new Fault('conflict', 'the daemon is already running', { hint: 'carrel status; carrel down' });
  }
  const scope = scopeArgs();
  let { code, signal, lastLines } = await runHere(context.home, scope, port);
  if (code !== 0 && scope.length > 0 && isScopeRefused(lastLines)) {
    ({ code, signal, lastLines } = await runHere(context.home, [], port));
  }
  if (code === 0) return 0;
  if (signal === 'SIGINT' || signal === 'SIGTERM') return 130;
  throw startFaultFrom(lastLines, signal ?? `exit code ${code}`);
}

function foreignDaemon(): Fault {
  return new Fault('invalid', 'CARREL_SOCKET names a daemon that others run', {
    hint: 'For a daemon of your own, unset CARREL_SOCKET or name a home: carrel --home DIR up',
  });
}

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly lastLines: string;
}

/** Runs the daemon in its own session, so that it gets Ctrl-C only once: from this command. */
function runHere(home: string, scope: readonly string[], port: number | undefined): Promise<Ended> {
  const [program, ...args] = daemonArgv(home, scope);
  const child = spawn(program, args, {
    detached: true,
    stdio: ['ignore', 'inherit', 'pipe'],
    env: daemonEnv(home, port),
  });
  const release = catchSignals((signal) => void child.kill(signal));
  const lines: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line);
    lines.splice(0, lines.length - keptLines);
    if (!line.startsWith(faultMark)) process.stderr.write(`${line}\n`);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      release();
      resolve({ code, signal, lastLines: lines.join('\n') });
    });
  });
}
