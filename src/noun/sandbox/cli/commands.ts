import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { connect } from '../../../client/connect/connect.ts';
import { parseCount, parseSeconds } from '../../../client/option.ts';
import { during } from '../../../client/output/progress.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { deliver, ownSinks } from '../../../client/stream/receive.ts';
import { terminalSize } from '../../../client/stream/terminal.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { formatSize } from '../../../model/size.ts';
import type { SandboxView, StatsView } from '../api.ts';
import { forEach, requireNamesOrAll } from './each.ts';
import { attachTo } from './stream/attach.ts';
import { interact } from './stream/interactive.ts';
import { StartErrorFilter } from './stream/start-error-filter.ts';

/** An image without a shell may still have other programs to run. */
function noShell(name: string): Fault {
  return new Fault('unsupported', `${name} has no shell: its image has no /bin/sh`, {
    hint: `Run a program that it has: carrel exec -it ${name} -- PROGRAM`,
  });
}

export const bestShell = ['/bin/sh', '-c', 'exec $(command -v bash || echo sh) -l'];

export async function shell(context: Context, { args }: Invocation): Promise<number> {
  const name = checkSandboxName(args[0]!);
  const env = process.env.TERM ? { TERM: process.env.TERM } : {};
  const request = { command: bestShell, env, stdin: true, bound: true };
  // Without a terminal the shell reads commands from the pipe until its end.
  const terminal = process.stdin.isTTY ? { terminal: terminalSize() } : {};
  return interact(connect(context), context.out, name, { ...request, ...terminal }, () => noShell(name));
}

export async function attach(context: Context, { args }: Invocation): Promise<number> {
  const name = checkSandboxName(args[0]!);
  const client = connect(context);
  const { terminal, engine } = await client.call('GET /v1/sandboxes/{name}', { path: { name } });
  return attachTo(context, client, name, {
    terminal,
    again: `carrel attach ${name}`,
    drawn: true,
    lineLog: engine === 'docker',
  });
}

interface LogsOptions {
  readonly follow?: boolean;
  readonly tail?: string;
}

export async function logs(context: Context, { args, options }: Invocation<LogsOptions>): Promise<void> {
  const query = {
    ...(options.follow ? { follow: true } : {}),
    ...(options.tail === undefined ? {} : { tail: parseCount(options.tail, '--tail') }),
  };
  const path = { name: checkSandboxName(args[0]!) };
  const client = connect(context);
  const own = ownSinks(context.out);
  if (context.json) return void (await deliver(client.frames('GET /v1/sandboxes/{name}/logs', { path, query }), own));
  const startErrors = new StartErrorFilter(own);
  await deliver(client.frames('GET /v1/sandboxes/{name}/logs', { path, query }), startErrors.sinks);
  if (!startErrors.isBuffering) return;
  const view = await client.call('GET /v1/sandboxes/{name}', { path });
  const refusal = await startErrors.refusal(view, view.command);
  if (refusal) context.out.warn(refusal.message);
}

/** Printed when the exit code was not observed. */
const unknownCode = 255;

export async function wait(context: Context, { args }: Invocation): Promise<void> {
  const name = checkSandboxName(args[0]!);
  const answer = connect(context).call('GET /v1/sandboxes/{name}/wait', { path: { name } });
  const view = await during(context.out, `waiting for ${name} to end`, answer);
  if (context.json) return context.out.document(view);
  if (view.exitCode === null) context.out.warn(`${name} ended without an exit code: ${view.reason ?? view.state}`);
  context.out.print(String(view.exitCode ?? unknownCode));
}

interface StopOptions {
  readonly grace?: string;
  readonly all?: boolean;
}

export async function stop(context: Context, { args, options }: Invocation<StopOptions>): Promise<number> {
  const { grace, all = false } = options;
  requireNamesOrAll('stop', args, all);
  const body = grace === undefined ? {} : { graceMs: parseSeconds(grace, '--grace') };
  const client = connect(context);
  const stopOne = (name: string) => client.call('POST /v1/sandboxes/{name}/stop', { path: { name }, body });
  if (!all) return forEach(context, 'stopping', args, stopOne);
  const live = (await client.call('GET /v1/sandboxes')).filter(isLive);
  if (live.length === 0) context.out.note('no sandbox is running');
  const views = new Map(live.map((view) => [view.name, view]));
  return forEach(context, 'stopping', [...views.keys()], (name) => stopIfThere(stopOne(name), views.get(name)!));
}

function isLive({ state }: SandboxView): boolean {
  return state === 'running' || state === 'pending';
}

/** A sandbox that was removed meanwhile counts as stopped. */
async function stopIfThere(stopping: ReturnType<Client['call']>, seen: SandboxView): Promise<SandboxView> {
  try {
    return (await stopping) as SandboxView;
  } catch (error) {
    if (isFault(error, 'not_found')) return seen;
    throw error;
  }
}

export async function start(
  context: Context,
  { args, options }: Invocation<{ readonly all?: boolean }>,
): Promise<number> {
  const { all = false } = options;
  requireNamesOrAll('start', args, all);
  const client = connect(context);
  const names = all ? (await client.call('GET /v1/sandboxes')).filter(wasInterrupted).map(({ name }) => name) : args;
  if (all && names.length === 0) context.out.note('no sandbox was stopped');
  return forEach(context, 'starting', names, (name) =>
    client.call('POST /v1/sandboxes/{name}/start', { path: { name } }),
  );
}

/** Ended by `stop`, or lost when the machine went down. Commands that ended by themselves are not run again. */
function wasInterrupted({ state, reason }: SandboxView): boolean {
  return state === 'stopped' || (state === 'failed' && reason === 'lost');
}

/** A sandbox that has already ended is started too. */
export async function restart(context: Context, { args, options }: Invocation<{ grace?: string }>): Promise<number> {
  const body = options.grace === undefined ? {} : { graceMs: parseSeconds(options.grace, '--grace') };
  const client = connect(context);
  return forEach(context, 'restarting', args, async (name) => {
    await client.call('POST /v1/sandboxes/{name}/stop', { path: { name }, body });
    return client.call('POST /v1/sandboxes/{name}/start', { path: { name } });
  });
}

export async function stats(context: Context): Promise<void> {
  await printAnswer(context, connect(context).call('GET /v1/stats'), usage, { empty: 'no sandbox is running' });
}

export function usage(all: readonly StatsView[]): string[] {
  const rows = all.map((one) => [
    plain(one.name),
    `${one.cpuSeconds.toFixed(1)}s`,
    limit(one, 'cpus', String(one.cpus)),
    `${formatSize(one.memoryBytes)} / ${limit(one, 'memoryBytes', formatSize(one.memoryLimitBytes))}`,
    `${one.pids} / ${limit(one, 'pids', String(one.pidsLimit))}`,
  ]);
  const lines = table([['NAME', 'CPU TIME', 'CPUS', 'MEMORY', 'PIDS'], ...rows]);
  return rows.flat().some((cell) => cell.endsWith('*')) ? [...lines, '* not enforced on this machine'] : lines;
}

function limit({ advisory }: StatsView, key: string, text: string): string {
  return advisory.includes(key) ? `${text}*` : text;
}
