/** This terminal, or these streams, connected to the command of a sandbox until one of them leaves. */
import type { Socket } from 'node:net';
import type { Client } from '../../api/client.ts';
import type { Context } from '../cli.ts';
import type { Output } from '../output/output.ts';
import { catchSignals } from '../signals.ts';
import { DetachKeys } from './detach-keys.ts';
import { earlierScreen } from './earlier-screen.ts';
import { hasInput, sendInput } from './input.ts';
import { closeSinks, ownSinks, pour, receive } from './receive.ts';
import { followSize, rawKeys, sendSize, terminalSize } from './terminal.ts';

export interface AttachOptions {
  /** Its command has a terminal. */
  readonly terminal: boolean;
  /** The command that comes back to it. */
  readonly again: string;
  /** It runs already, and has drawn its screen for others. */
  readonly drawn: boolean;
}

/** The exit code of its command; 0 for a client that leaves. */
export async function attachTo(
  { out }: Context,
  client: Client,
  name: string,
  { terminal, again, drawn }: AttachOptions,
): Promise<number> {
  const socket = await client.upgrade('GET /v1/sandboxes/{name}/attach', { name });
  const leave = () => {
    giveBack();
    out.warn(`detached; ${name} goes on; come back with: ${again}`);
    process.exit(0);
  };
  const release = catchSignals(leave);
  if (terminal && process.stdin.isTTY) out.note('Ctrl-P Ctrl-Q detaches');
  const giveBack = terminal && hasInput() ? lendTerminal(socket, leave) : lendInput(socket);
  try {
    if (terminal && drawn && process.stdin.isTTY) await showScreen(client, name, socket, out);
    const exit = await receive(socket, ownSinks(out), name);
    closeSinks(out, exit);
    return exit.exitCode;
  } finally {
    giveBack();
    release();
    socket.destroy();
  }
}

/** What is written meanwhile waits in the socket, and is in the log, too: some output may be drawn twice. */
async function showScreen(client: Client, name: string, socket: Socket, { stdout }: Output): Promise<void> {
  const screen = await earlierScreen(client, name, terminalSize());
  await pour(stdout, Buffer.from(screen.painted()));
  sendSize(socket);
}

function lendInput(socket: Socket): () => void {
  return hasInput() ? sendInput(socket, process.stdin) : () => {};
}

/** Ctrl-C goes inside with all other keys, so leaving has keys of its own. A terminal that hung up leaves, too. */
function lendTerminal(socket: Socket, leave: () => void): () => void {
  if (!process.stdin.isTTY) return sendInput(socket, process.stdin, true);
  const keys = process.stdin.pipe(new DetachKeys(leave), { end: false });
  process.stdin.once('end', leave).once('error', leave);
  const releases = [rawKeys(), followSize(socket), sendInput(socket, keys, true)];
  return () => {
    process.stdin.unpipe(keys).off('end', leave).off('error', leave).pause();
    for (const release of releases.splice(0).reverse()) release();
  };
}
