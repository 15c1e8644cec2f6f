/** Connections of the adapter: its own stdio, and sockets of later runs. */
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { MessageReader } from '../model/message-line.ts';
import type { Adapter } from './adapter.ts';
import type { SwarmListener } from './broadcast.ts';
import { exitCodeOf } from './exit.ts';

/** A listener with more unsent bytes than this gets no progress messages. */
const behindBytes = 256 * 1024;

function listenerOn(stream: Writable): SwarmListener {
  return {
    write: (line) => void (stream.writable && stream.write(line)),
    isBehind: () => stream.writableLength > behindBytes,
  };
}

/** Connects a listener until the output closes. Calls `onEnd` when the input ends. */
export function connect(adapter: Adapter, input: Readable, output: Writable, onEnd: () => void): void {
  const listener = listenerOn(output);
  const reader = new MessageReader();
  const take = (reads: ReturnType<MessageReader['push']>) => {
    for (const read of reads) {
      if ('message' in read) adapter.receive(read.message, listener);
      else adapter.refuse(read.flaw.reason);
    }
  };
  const gone = () => adapter.disconnect(listener);
  output.on('error', gone);
  output.on('close', gone);
  input.on('data', (chunk: Buffer) => take(reader.push(chunk)));
  input.on('end', () => {
    take(reader.end());
    onEnd();
  });
  input.on('error', onEnd);
  adapter.connect(listener);
}

/** The abstract socket of the running adapter. */
export function socketName(dataFolder: string): string {
  return `\0carrel-adapter:${dataFolder}`;
}

/** Relays stdio to the running adapter of this sandbox. Its completion decides the exit code. */
export function relay(socket: Socket, input: Readable, output: Writable): Promise<number> {
  const reader = new MessageReader();
  let exitCode = 1;
  input.pipe(socket);
  socket.on('data', (chunk: Buffer) => {
    if (output.writable && !output.write(chunk)) {
      socket.pause();
      output.once('drain', () => socket.resume());
    }
    for (const read of reader.push(chunk)) {
      if ('message' in read && read.message.type === 'completion') exitCode = exitCodeOf(read.message.payload.status);
    }
  });
  return new Promise((resolve) => {
    socket.on('error', () => resolve(exitCode));
    socket.on('close', () => resolve(exitCode));
    output.on('error', () => resolve(exitCode));
  });
}
