/** Shared by `run`, `exec` and `shell`: connects the user's streams, and perhaps the terminal, to a command inside. */

import type { Socket } from 'node:net';
import type { Client } from '../../../../client/client.ts';
import type { Output } from '../../../../client/output/output.ts';
import { during } from '../../../../client/output/progress.ts';
import { brokenPipeExit, onBrokenPipe } from '../../../../client/pipe.ts';
import { catchSignals } from '../../../../client/signals.ts';
import { sendInput } from '../../../../client/stream/input.ts';
import { closeSinks, memoryHint, ownSinks, receive } from '../../../../client/stream/receive.ts';
import type { StreamExit, UsedStreams } from '../../../../client/stream/stream.ts';
import { followSize, rawKeys } from '../../../../client/stream/terminal.ts';
import { TerminalReset } from '../../../../client/stream/terminal-reset.ts';
import { encodeJson } from '../../../../lib/wire/stream.ts';
import { type Fault, isFault } from '../../../../model/fault.ts';
import type { ExecRequest, SandboxView } from '../../api.ts';
import { StartErrorFilter } from './start-error-filter.ts';

export async function interact(
  client: Client,
  out: Output,
  name: string,
  request: ExecRequest,
  refuse = same,
): Promise<number> {
  const socket = await openExec(client, out, name);
  socket.write(encodeJson('request', request));
  onBrokenPipe(() => process.exit(brokenPipeExit));
  const lent = { stdin: request.stdin === true, terminal: request.terminal !== undefined };
  // With raw keys Ctrl-C is a byte, so a signal from elsewhere is for this process and is not passed on.
  const pass = () => catchSignals((signal) => void socket.write(encodeJson('signal', { name: signal })));
  const releaseSignals = isRaw(lent) ? () => {} : pass();
  try {
    const command = { name, argv: request.command };
    return (await showUntilEnd(socket, out, command, lent, refuse)).exitCode;
  } finally {
    releaseSignals();
    socket.destroy();
  }
}

/** Opens the connection of an `exec`. A stopped sandbox is started first. */
async function openExec(client: Client, out: Output, name: string): Promise<Socket> {
  const open = () => client.upgrade('POST /v1/sandboxes/{name}/exec', { name });
  try {
    return await open();
  } catch (error) {
    if (!isFault(error, 'not_ready')) throw error;
    if (!startsAgain(await client.call('GET /v1/sandboxes/{name}', { path: { name } }))) throw error;
    out.note(`${name} was stopped, starting it`);
    await during(out, `starting ${name}`, client.call('POST /v1/sandboxes/{name}/start', { path: { name } }));
    return open();
  }
}

/** Whether `exec` may start the sandbox: a command that ended by itself is not run again for it. */
function startsAgain({ state, command }: Pick<SandboxView, 'state' | 'command'>): boolean {
  return state === 'stopped' || (command.length === 0 && (state === 'failed' || state === 'completed'));
}

interface Shown {
  /** The name of the sandbox. */
  readonly name: string;
  readonly argv: readonly string[];
}

/** Shows the output of a command until it ends, then restores the terminal and prints errors about the command. */
export async function showUntilEnd(
  socket: Socket,
  out: Output,
  { name, argv }: Shown,
  lent: UsedStreams,
  refuse = same,
): Promise<StreamExit> {
  const reset = isRaw(lent) ? new TerminalReset() : null;
  const sinks = ownSinks(out);
  const startErrors = new StartErrorFilter(reset?.watched(sinks) ?? sinks);
  const release = lend(socket, lent);
  const giveBack = () => {
    release();
    reset?.finish(out);
  };
  try {
    const exit = await receive(socket, startErrors.sinks, `carrel attach ${name}`);
    const refusal = await startErrors.refusal(exit, argv);
    giveBack();
    if (refusal) out.fail(refuse(refusal));
    closeSinks(out, exit);
    if (exit.outOfMemory) out.warn(memoryHint(name));
    return exit;
  } finally {
    giveBack();
  }
}

const same = (fault: Fault) => fault;

/** Connects the streams until the returned function is called. */
function lend(socket: Socket, lent: UsedStreams): () => void {
  const releases: (() => void)[] = [];
  if (isRaw(lent)) releases.push(rawKeys());
  if (lent.terminal) releases.push(followSize(socket));
  if (lent.stdin) releases.push(sendInput(socket, process.stdin, lent.terminal));
  return () => {
    for (const release of releases.splice(0).reverse()) release();
  };
}

function isRaw({ stdin, terminal }: UsedStreams): boolean {
  return terminal && stdin && process.stdin.isTTY === true;
}
