/** One run of the adapter's program: it becomes the adapter of this sandbox, or is connected to the one that is. */
import { connect as connectSocket, type Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { type AdapterSettings, checkAdapterSettings } from '../model/agent.ts';
import { Adapter, type Places } from './adapter.ts';
import { realClock } from './broadcast.ts';
import { connect, listen, relay, socketName } from './connection.ts';

/** Whoever does not take in the last words within that time finds them in the record. */
const flushMs = 5000;
const refusedCode = 2;
const behindBytes = 256 * 1024;

export async function runAdapter(argument: string | undefined, places: Places): Promise<number> {
  const settings = parseSettings(argument);
  if (settings === null) return refusedCode;
  const env = Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => !!entry[1]));
  const adapter = new Adapter({ settings, places, env, clock: realClock, log: writeLog });
  const sockets = new Set<Socket>();
  const name = socketName(places.data);
  const server = await listen(name, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    connect(adapter, socket, socket, () => {});
  });
  if (server === null) return relay(connectSocket(name), process.stdin, process.stdout);
  // Without anybody who reads the log, the work goes on, ignoring.
  process.stderr.on('error', () => {});
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => adapter.stop());
  // Whoever hung up only stopped listening.
  process.on('SIGHUP', () => {});
  connect(adapter, process.stdin, process.stdout, () => sockets.size === 0 && adapter.abandon());
  const exitCode = await adapter.ended;
  server.close();
  await Promise.race([Promise.all([process.stdout, ...sockets].map(flushed)), pause(flushMs)]);
  return exitCode;
}

/** On stderr, where logs belong: each line after the story that it is about. Lines that no reader takes are left out. */
function writeLog(storyId: string, lines: readonly string[]): void {
  if (process.stderr.writableLength > behindBytes) return;
  const text = lines.flatMap((line) => line.split('\n')).map((line) => `${storyId} ${line}\n`);
  process.stderr.write(text.join(''));
}

function parseSettings(argument: string | undefined): AdapterSettings | null {
  try {
    return checkAdapterSettings(JSON.parse(argument ?? ''));
  } catch (error) {
    process.stderr.write(`carrel-adapter: the settings are not understood: ${(error as Error).message}\n`);
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
