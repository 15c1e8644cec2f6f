/** Runs one command inside a running sandbox, from the request to the exit. */

import { sendInput } from '../../../../client/stream/input.ts';
import { receive } from '../../../../client/stream/receive.ts';
import type { ExecOptions, ExecTarget, Sinks, StreamExit } from '../../../../client/stream/stream.ts';
import { encodeJson } from '../../../../lib/wire/stream.ts';
import { Fault } from '../../../../model/fault.ts';
import type { ExecRequest } from '../../api.ts';

/** Runs a helper command with its own streams; it ends when this client goes away. */
export async function execInside(
  inside: ExecTarget,
  command: string[],
  sinks: Sinks,
  { input, env }: ExecOptions = {},
): Promise<StreamExit> {
  const socket = await inside.client.upgrade('POST /v1/sandboxes/{name}/exec', { name: inside.name });
  inside.onOpen?.(() => (socket.bytesRead ?? 0) + (socket.bytesWritten ?? 0));
  const abandon = () => socket.destroy(new Fault('cancelled', 'interrupted'));
  if (inside.signal?.aborted) abandon();
  inside.signal?.addEventListener('abort', abandon, { once: true });
  const request: ExecRequest = { command, env: { LC_ALL: 'C', ...env }, stdin: input !== undefined, bound: true };
  socket.write(encodeJson('request', request));
  const release = input ? sendInput(socket, input) : () => {};
  try {
    return await receive(socket, sinks);
  } finally {
    release();
    inside.signal?.removeEventListener('abort', abandon);
    socket.destroy();
  }
}
