/**
 * The streams of a sandbox's command, over a hijacked connection of the engine. Other commands inside have theirs
 * (`exec.ts`). Where the log is in the engine's folder, output is read from it instead (`log-console.ts`).
 */
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import type { Console } from '../../engine.ts';
import type { Connection } from '../connection/connection.ts';
import { readOutputs } from '../connection/frames.ts';
import type { CommandLiveness } from './command-liveness.ts';
import { resizeContainer } from './resize.ts';

export interface ConsoleAttachment {
  readonly liveness: CommandLiveness;
  readonly terminal: boolean;
}

export async function attachConsole(
  connection: Connection,
  container: string,
  { liveness, terminal }: ConsoleAttachment,
): Promise<Console> {
  const streams = { stream: '1', stdin: '1', stdout: '1', stderr: '1' };
  const socket = await connection.hijack(`/containers/${container}/attach`, streams, null);
  return {
    ...readOutputs(socket, terminal, { over: () => liveness.isOver(), isFree: () => !liveness.isKnown }),
    stdin: stdinOf(socket),
    resize: terminal ? resizeContainer(connection, container) : async () => {},
    detach: () => socket.destroy(),
  };
}

/** When the connection has ended with the process, further input is discarded. */
export function stdinOf(socket: Socket): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (socket.destroyed || !socket.writable) done();
      else socket.write(chunk, () => done());
    },
    final(done) {
      if (socket.destroyed || !socket.writable) done();
      else socket.end(() => done());
    },
  });
}
