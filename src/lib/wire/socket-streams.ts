/** A WebSocket as two streams. Back-pressure goes both ways; an end of either side ends both. */
import { Readable, Writable } from 'node:stream';

/** The part of a WebSocket that is needed. */
export interface StreamSocket {
  on(event: 'message', listener: (data: Buffer) => void): unknown;
  on(event: 'close' | 'error', listener: () => void): unknown;
  send(data: string, sent: (error?: Error) => void): void;
  pause(): void;
  resume(): void;
  terminate(): void;
}

export function streamsOf(socket: StreamSocket): { readonly stdin: Writable; readonly stdout: Readable } {
  const end = (_error: Error | null, done: (error?: Error | null) => void) => {
    socket.terminate();
    done(null);
  };
  const stdout = new Readable({ read: () => socket.resume(), destroy: end });
  const stdin = new Writable({
    decodeStrings: false,
    write: (text: string | Buffer, _encoding, done) => socket.send(String(text), (error) => done(error ?? null)),
    destroy: end,
  });
  socket.on('message', (data) => {
    if (!stdout.push(data)) socket.pause();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    stdout.destroy();
    stdin.destroy();
  });
  return { stdin, stdout };
}
