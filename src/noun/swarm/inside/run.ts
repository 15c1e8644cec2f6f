/** One run of the adapter's program: it becomes the adapter of this sandbox, or connects to the running one. */
import { connect as connectSocket, type Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { listen } from '../../agent/inside/listen.ts';
import { type AdapterSettings, checkAdapterSettings } from '../../agent/model/agent.ts';
import { Adapter, type AdapterFolders } from './adapter.ts';
import { realClock } from './broadcast.ts';
import { connect, relay, socketName } from './connection.ts';

/** Time-out for slow listeners at the end; the record has everything. */
const flushMs = 5000;
const refusedCode = 2;
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
