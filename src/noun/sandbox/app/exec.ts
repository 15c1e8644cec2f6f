/** `exec`: a command in a running sandbox over a framed connection. The first frame of the client is the request. */

import type { OpenAct } from '../../../kernel/audit/audit.ts';
import type { EngineOf, ExecSpec, Process } from '../../../kernel/engine/engine.ts';
import { endWith, type UpgradeRequest } from '../../../kernel/server/route.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { validated } from '../../../lib/schema/validated.ts';
import type { FramedConnection } from '../../../lib/wire/framed-connection.ts';
import { decodeJson } from '../../../lib/wire/stream.ts';
import { asFault } from '../../../model/fault.ts';
import { type ExecRequest, execRequest } from '../api.ts';
import { commandEnv } from '../launch/launch.ts';
import { hasEnded, type Sandbox } from '../model.ts';
import type { SandboxCommands, Sandboxes } from '../sandbox.ts';
import { takeInput } from './connection-input.ts';
import { notRunning } from './not-running.ts';
import { noteMemoryKill } from './sandbox-records.ts';

export interface ExecScope {
  readonly sandboxes: Sandboxes;
  readonly engineOf: EngineOf;
  readonly store: Store;
  readonly commands: SandboxCommands;
}

export async function exec({ name, scope, accept, openAct }: UpgradeRequest<ExecScope>): Promise<void> {
  const { value: sandbox } = await scope.sandboxes.current(name);
  if (hasEnded(sandbox.status)) throw notRunning(sandbox);
  scope.engineOf(sandbox).expect();
  await scope.commands.open.during(sandbox, () => serveExec(accept(), openAct, scope, sandbox));
}

async function serveExec(
  connection: FramedConnection,
  openAct: OpenAct,
  scope: ExecScope,
  sandbox: Sandbox,
): Promise<void> {
  const { sandboxes, engineOf, commands, store } = scope;
  try {
    const request = validated(execRequest, decodeJson(await connection.first()), 'request');
    sandboxes.checkCommand(request.env ?? {}, request.command);
    await commands.starts(sandbox);
    const spec = execSpec(request, sandbox, sandboxes.cwd(sandbox));
    const process = await engineOf(sandbox).exec(sandbox.id, sandbox.status.handle, spec);
    openAct.end('ok', { detail: { program: request.command[0] ?? '' } });
    if (!request.stdin) process.stdin.end();
    connection.onGone = () => (request.bound ? void process.signal('SIGKILL').catch(() => {}) : undefined);
    if (connection.gone) connection.onGone();
    takeInput(connection, process, (signal) => process.signal(signal));
    await Promise.all([connection.forward('stdout', process.stdout), connection.forward('stderr', process.stderr)]);
    const exit = await process.exited;
    await commands.ended(sandbox);
    if (exit.outOfMemory) noteMemoryKill(store, sandbox.id, request.command[0] ?? '');
    connection.finish('exit', exit);
  } catch (error) {
    endWith(openAct, error);
    connection.finish('fault', asFault(error));
  }
}

/** Starts a program in a running sandbox for another noun. */
export async function startIn(
  { sandboxes, commands, engineOf }: Pick<ExecScope, 'sandboxes' | 'commands' | 'engineOf'>,
  sandbox: Sandbox,
  command: readonly string[],
): Promise<Process> {
  await commands.starts(sandbox);
  const spec = execSpec({ command: [...command], stdin: true }, sandbox, sandboxes.cwd(sandbox));
  return engineOf(sandbox).exec(sandbox.id, sandbox.status.handle, spec);
}

export function execSpec(request: ExecRequest, { spec }: Sandbox, cwd: string): ExecSpec {
  return {
    command: request.command,
    env: commandEnv(spec, request.env),
    cwd: request.cwd ?? cwd,
    stdin: request.stdin ?? false,
    terminal: request.terminal ?? null,
  };
}
