/** The streams of a sandbox's own command, over a connection that the engine gives up to us. */
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import type { Console } from '../engine.ts';
import type { Connection } from './connection.ts';
import { readOutputs } from './frames.ts';
import type { Life } from './life.ts';

export async function attachConsole(connection: Connection, container: string, life: Life): Promise<Console> {
  const options = { stream: true, stdin: true, stdout: true, stderr: true };
  const socket = await hijacked(connection, (docker) =>
    // Named as the library wants it, `stdin` would make it keep the request open instead of handing the connection over.
    docker
      .getContainer(container)
      .attach({ _query: options, _body: { stream: true }, hijack: true } as object as typeof options),
  );
  return {
    ...readOutputs(socket, false, { over: () => life.isOver(), isFree: () => !life.isKnown }),
    stdin: stdinOf(socket),
    resize: async () => {},
    detach: () => socket.destroy(),
  };
}

/** Both ways from now on, with what the engine has already said. */
export async function hijacked(
  connection: Connection,
  question: (docker: Parameters<Parameters<Connection['ask']>[0]>[0]) => Promise<unknown>,
): Promise<Socket> {
  return (await connection.ask(question)) as Socket;
}

/** What a process does not read is lost with it. */
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
