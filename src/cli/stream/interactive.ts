/** What `exec` and `shell` share: a command inside with this person's streams, and perhaps their terminal. */
import type { Socket } from 'node:net';
import type { Client } from '../../api/client.ts';
import type { ExecRequest } from '../../api/routes.ts';
import { encodeJson } from '../../api/stream.ts';
import type { Output } from '../output/output.ts';
import { brokenPipeExit, onBrokenPipe } from '../pipe.ts';
import { catchSignals } from '../signals.ts';
import { sendInput } from './input.ts';
import { closeSinks, memoryHint, ownSinks, receive } from './receive.ts';
import { followSize, rawKeys } from './terminal.ts';

export async function interact(client: Client, out: Output, name: string, request: ExecRequest): Promise<number> {
  const socket = await client.upgrade('execSandbox', { name });
  socket.write(encodeJson('request', request));
  onBrokenPipe(() => process.exit(brokenPipeExit));
  const releases = lend(socket, request);
  try {
    const exit = await receive(socket, ownSinks(out));
    closeSinks(out, exit);
    if (exit.outOfMemory) out.warn(memoryHint(name));
    return exit.exitCode;
  } finally {
    for (const release of releases.reverse()) release();
    socket.destroy();
  }
}

function lend(socket: Socket, request: ExecRequest): (() => void)[] {
  const releases: (() => void)[] = [];
  const raw = request.terminal !== undefined && request.stdin === true && process.stdin.isTTY === true;
  if (raw) releases.push(rawKeys());
  // With raw keys Ctrl-C is a byte, and a signal from elsewhere is meant for us.
  else releases.push(catchSignals((name) => void socket.write(encodeJson('signal', { name }))));
  if (request.terminal) releases.push(followSize(socket));
  if (request.stdin) releases.push(sendInput(socket, process.stdin));
  return releases;
}
