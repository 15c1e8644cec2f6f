import type { Socket } from 'node:net';
import { checkSandboxName } from '../../model/name.ts';
import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { catchSignals } from '../signals.ts';
import { DetachKeys } from '../stream/detach-keys.ts';
import { hasInput, sendInput } from '../stream/input.ts';
import { closeSinks, ownSinks, receive } from '../stream/receive.ts';
import { followSize, rawKeys, redraw } from '../stream/terminal.ts';

export default async function attach(context: Context, { args }: Invocation): Promise<number> {
  const name = checkSandboxName(args[0]!);
  const client = connect(context);
  const { terminal } = await client.call('GET /v1/sandboxes/{name}', { path: { name } });
  const socket = await client.upgrade('GET /v1/sandboxes/{name}/attach', { name });
  const leave = () => {
    giveBack();
    context.out.warn(`detached; ${name} goes on`);
    process.exit(0);
  };
  const release = catchSignals(leave);
  if (terminal && process.stdin.isTTY) context.out.note('Ctrl-P Ctrl-Q detaches');
  const giveBack = terminal && hasInput() ? lendTerminal(socket, leave) : lendInput(socket);
  try {
    const exit = await receive(socket, ownSinks(context.out), name);
    closeSinks(context.out, exit);
    return exit.exitCode;
  } finally {
    giveBack();
    release();
    socket.destroy();
  }
}

function lendInput(socket: Socket): () => void {
  return hasInput() ? sendInput(socket, process.stdin) : () => {};
}

/** Ctrl-C goes inside with all other keys, so leaving has keys of its own. */
function lendTerminal(socket: Socket, leave: () => void): () => void {
  if (!process.stdin.isTTY) return sendInput(socket, process.stdin, true);
  const keys = process.stdin.pipe(new DetachKeys(leave));
  // A terminal that hung up reads as an error: there is nothing more to come either way.
  process.stdin.once('error', () => keys.end());
  const releases = [rawKeys(), followSize(socket), sendInput(socket, keys, true)];
  redraw(socket);
  return () => {
    process.stdin.unpipe(keys).pause();
    for (const release of releases.reverse()) release();
  };
}
