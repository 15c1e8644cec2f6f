/** Connects this terminal, or these streams, to the command of a sandbox until one side ends. */

import type { Socket } from 'node:net';
import type { Context } from '../../../../client/cli.ts';
import type { Client } from '../../../../client/client.ts';
import type { Output } from '../../../../client/output/output.ts';
import { catchSignals } from '../../../../client/signals.ts';
import { DetachKeys } from '../../../../client/stream/detach-keys.ts';
import { hasInput, sendInput } from '../../../../client/stream/input.ts';
import { closeSinks, deliver, ownSinks, receive, writeAndDrain } from '../../../../client/stream/receive.ts';
import type { AttachOptions, Sinks } from '../../../../client/stream/stream.ts';
import { followSize, rawKeys, sendSize, terminalSize } from '../../../../client/stream/terminal.ts';
import { TerminalReset } from '../../../../client/stream/terminal-reset.ts';
import type { TerminalSize } from '../../../../model/engine.ts';
import { forceRedraw } from './force-redraw.ts';
import { Screen } from './screen/screen.ts';
import { sendSizeOnKey } from './send-size-on-key.ts';

/** Resolves to the exit code of the command. A client that detaches exits with 0. */
export async function attachTo(
  { out }: Context,
  client: Client,
  name: string,
  { terminal, again, drawn, lineLog }: AttachOptions,
): Promise<number> {
  const socket = await client.upgrade('GET /v1/sandboxes/{name}/attach', { name });
  const reset = terminal && process.stdin.isTTY ? new TerminalReset() : null;
  const leave = () => {
    giveBack();
    if (reset) out.stdout.write(reset.text());
    out.warn(`detached; ${name} goes on; come back with: ${again}`);
    process.exit(0);
  };
  const release = catchSignals(leave);
  if (terminal && process.stdin.isTTY) out.note('Ctrl-P Ctrl-Q detaches');
  const giveBack = terminal && hasInput() ? lendTerminal(socket, leave) : lendInput(socket);
  try {
    if (drawn && reset) await showScreen(client, name, socket, out, reset);
    const sawOutput = drawn && reset && lineLog ? forceRedraw(socket) : () => {};
    const exit = await receive(socket, watched(ownSinks(out), reset, sawOutput), again);
    closeSinks(out, exit);
    return exit.exitCode;
  } finally {
    giveBack();
    reset?.finish(out);
    release();
    socket.destroy();
  }
}

/** Output that arrives meanwhile is buffered in the socket and is also in the log, so some of it may be drawn twice. */
async function showScreen(
  client: Client,
  name: string,
  socket: Socket,
  { stdout }: Output,
  reset: TerminalReset,
): Promise<void> {
  const screen = await earlierScreen(client, name, terminalSize());
  const painted = Buffer.from(screen.painted());
  reset.see(painted);
  await writeAndDrain(stdout, painted);
  sendSize(socket);
}

/** Draws the output so far on a screen of this size. A program that had another size redraws by itself. */
async function earlierScreen(client: Client, name: string, { rows, columns }: TerminalSize): Promise<Screen> {
  const screen = new Screen(rows, columns);
  const take = (chunk: Buffer) => screen.push(chunk);
  const query = { lastStart: true };
  const frames = client.frames('GET /v1/sandboxes/{name}/logs', { path: { name }, query });
  await deliver(frames, { stdout: take, stderr: take });
  return screen;
}

function watched(sinks: Sinks, reset: TerminalReset | null, sawOutput: () => void): Sinks {
  if (reset === null) return sinks;
  const stdout = (chunk: Buffer) => {
    sawOutput();
    return sinks.stdout(chunk);
  };
  return reset.watched({ ...sinks, stdout });
}

function lendInput(socket: Socket): () => void {
  return hasInput() ? sendInput(socket, process.stdin) : () => {};
}

/** Sends all keys inside, also Ctrl-C, so detaching has its own keys. A terminal that hangs up detaches too. */
function lendTerminal(socket: Socket, leave: () => void): () => void {
  if (!process.stdin.isTTY) return sendInput(socket, process.stdin, true);
  const keys = process.stdin.pipe(new DetachKeys(leave), { end: false });
  process.stdin.once('end', leave).once('error', leave);
  const releases = [rawKeys(), followSize(socket), sendSizeOnKey(socket, keys), sendInput(socket, keys, true)];
  return () => {
    process.stdin.unpipe(keys).off('end', leave).off('error', leave).pause();
    for (const release of releases.splice(0).reverse()) release();
  };
}
