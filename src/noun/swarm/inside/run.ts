/** One run of the adapter's program: it becomes the adapter of this sandbox, or connects to the running one. */
import { connect as connectSocket, type Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { listen } from '../../agent/inside/listen.ts';
import { type AdapterSettings, checkAdapterSettings } from '../../agent/model/agent.ts';
import { MessageReader } from '../model/message-line.ts';
import { Adapter, type AdapterFolders, exitCodeOf } from './adapter.ts';
import { realClock, type SwarmListener } from './broadcast.ts';

/** Time-out for slow listeners at the end; the record has everything. */
const flushMs = 5000;
const refusedCode = 2;
/** With more unsent bytes than this, a listener gets no progress messages, and a reader of the log no lines. */
const behindBytes = 256 * 1024;

export async function runAdapter(argument: string | undefined, folders: AdapterFolders): Promise<number> {
  const settings = parseSettings(argument);
  if (settings === null) return refusedCode;
  const env = Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => !!entry[1]));
  const adapter = new Adapter({ settings, folders, env, clock: realClock, log: writeLog });
  const sockets = new Set<Socket>();
  const name = socketName(folders.data);
  const server = await listen(name, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    connect(adapter, socket, socket, () => {});
  });
  if (server === null) return relay(connectSocket(name), process.stdin, process.stdout);
  // The work continues without a reader of the log, ignoring.
  process.stderr.on('error', () => {});
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => adapter.stop());
  // A hang-up ends a connection, not the work.
  process.on('SIGHUP', () => {});
  connect(adapter, process.stdin, process.stdout, () => sockets.size === 0 && adapter.abandon());
  const exitCode = await adapter.ended;
  server.close();
  await Promise.race([Promise.all([process.stdout, ...sockets].map(flushed)), pause(flushMs)]);
  return exitCode;
}

function listenerOn(stream: Writable): SwarmListener {
  return {
    write: (line) => void (stream.writable && stream.write(line)),
    isBehind: () => stream.writableLength > behindBytes,
  };
}

/** Connects a listener until the output closes. Calls `onEnd` when the input ends. */
function connect(adapter: Adapter, input: Readable, output: Writable, onEnd: () => void): void {
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
function socketName(dataFolder: string): string {
  return `\0carrel-adapter:${dataFolder}`;
}

/** Relays stdio to the running adapter of this sandbox. Its completion decides the exit code. */
function relay(socket: Socket, input: Readable, output: Writable): Promise<number> {
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

/** Writes lines to stderr, each after the id of its story. Drops them while the reader is slow. */
function writeLog(storyId: string, lines: readonly string[]): void {
  if (process.stderr.writableLength > behindBytes) return;
  const text = lines.flatMap((line) => line.split('\n')).map((line) => `${storyId} ${line}\n`);
  process.stderr.write(text.join(''));
}

function parseSettings(argument: string | undefined): AdapterSettings | null {
  try {
    return checkAdapterSettings(JSON.parse(argument ?? ''));
  } catch (error) {
    process.stderr.write(`carrel-adapter: the settings are not valid: ${(error as Error).message}\n`);
    return null;
  }
}

function flushed(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    stream.on('close', resolve);
    if (!stream.writable) resolve();
    else stream.write('', () => resolve());
  });
}
