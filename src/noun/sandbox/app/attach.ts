/** `attach`: the streams of the command of a sandbox over a framed connection. */

import type { Console, Engine, EngineOf } from '../../../kernel/engine/engine.ts';
import type { UpgradeRequest } from '../../../kernel/server/route.ts';
import type { FramedConnection } from '../../../lib/wire/framed-connection.ts';
import { asFault, isFault } from '../../../model/fault.ts';
import type { Sandbox } from '../model.ts';
import type { Sandboxes } from '../sandbox.ts';
import { takeInput } from './connection-input.ts';
import { notRunning } from './not-running.ts';
import { outputMissing, resumeOutput, SentOutput } from './resume-output.ts';

export interface AttachScope {
  readonly sandboxes: Sandboxes;
  readonly engineOf: EngineOf;
  readonly network: { refusedBy(sandbox: Sandbox): Promise<unknown> };
}

/** The exit code for a sandbox whose own is unknown. */
const unknownExit = 255;

export async function attach({ name, scope, accept, openAct }: UpgradeRequest<AttachScope>): Promise<void> {
  const { sandboxes } = scope;
  const row = await sandboxes.current(name);
  const engine = scope.engineOf(row.value);
  const release = sandboxes.hold(row.id);
  try {
    const console = await engine.attach(row.id, row.value.status.handle).catch((error: unknown) => {
      throw isFault(error, 'not_ready') ? notRunning(row.value) : error;
    });
    openAct.end('ok');
    await serveConsole(accept(), console, { engine, scope, sandbox: row.value });
  } finally {
    await release();
  }
}

interface Attached {
  readonly engine: Engine;
  readonly scope: AttachScope;
  readonly sandbox: Sandbox;
}

async function serveConsole(connection: FramedConnection, console: Console, attached: Attached): Promise<void> {
  const gone = new AbortController();
  connection.onGone = () => {
    gone.abort();
    console.detach();
  };
  if (connection.gone) connection.onGone();
  takeInput(connection, console, async () => {});
  const sent = new SentOutput();
  await Promise.all(
    (['stdout', 'stderr'] as const).map((name) => {
      console[name].on('data', (chunk: Buffer) => sent.add(name, chunk.length));
      return connection.forward(name, console[name]);
    }),
  );
  if (connection.gone) return;
  try {
    connection.finish('exit', await exitAfterOutput(connection, attached, sent, gone.signal));
  } catch (error) {
    connection.finish('fault', asFault(error));
  }
}

/** If the engine went away meanwhile, output may be missing; then exit code 0 is not passed on. */
async function exitAfterOutput(
  connection: FramedConnection,
  { engine, scope, sandbox }: Attached,
  sent: SentOutput,
  signal: AbortSignal,
) {
  const whole = await resumeOutput({
    ...{ engine, sandbox, sent, signal },
    send: (stream, bytes) => connection.send(stream, bytes),
    note: (message) => connection.note(message),
    onReturn: () => takeInputAgain(connection, engine, sandbox),
  });
  if (!whole) await scope.sandboxes.current(sandbox.name).catch(() => {});
  const exit = await exitOf(scope, sandbox, signal);
  if (!whole && exit.exitCode === 0) throw outputMissing(sandbox.name);
  return exit;
}

/** Passes input to a new console; its output is read from the log. */
async function takeInputAgain(
  connection: FramedConnection,
  engine: Engine,
  { id, spec, status }: Sandbox,
): Promise<void> {
  if (!spec.stdin) return;
  // The command may have ended since, ignoring.
  const console = await engine.attach(id, status.handle).catch(() => null);
  if (console === null) return;
  console.stdout.resume();
  console.stderr.resume();
  takeInput(connection, console, async () => {});
}

/** How the sandbox ended, by its record: a detached console does not say. */
async function exitOf({ sandboxes, network }: AttachScope, sandbox: Sandbox, signal: AbortSignal) {
  const view = await sandboxes.ended(sandbox, signal);
  const unknown = view.state === 'completed' ? 0 : unknownExit;
  const refused = await network.refusedBy(sandbox);
  return { exitCode: view.exitCode ?? unknown, signal: view.signal, outOfMemory: view.reason === 'oom', refused };
}
