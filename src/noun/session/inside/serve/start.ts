/** `start`: makes sure that an agent API serves in this sandbox, with these settings. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { isErrno } from '../../../../lib/file/file.ts';
import { openLog } from '../../../../lib/file/rotate.ts';
import { Fault, type FaultBody } from '../../../../model/fault.ts';
import { type ApiPaths, logPath, socketName } from './api-paths.ts';
import { textOf } from './serve.ts';

const startMs = 30_000;
const pollMs = 10;

/** Resolves to the port of the agent API. */
export async function start(paths: ApiPaths, program: string, settings: string): Promise<number> {
  let child: ChildProcess | null = null;
  for (const deadline = performance.now() + startMs; performance.now() < deadline; await pause(pollMs)) {
    const answer = await configure(paths, settings);
    if (answer !== null) return answer;
    // A child that has ended may have lost a race with another agent API, or was killed.
    if (child === null || hasEnded(child)) child = launch(paths, program);
  }
  throw new Fault('timeout', `the agent API did not start within ${startMs / 1000} seconds`, {
    hint: `Its log is ${logPath(paths)}.`,
  });
}

/** Null: no agent API listens. */
async function configure(paths: ApiPaths, settings: string): Promise<number | null> {
  const socket = connect(socketName(paths));
  try {
    await once(socket, 'connect');
    socket.end(settings);
    return portIn(await textOf(socket));
  } catch (error) {
    if (['ECONNREFUSED', 'ECONNRESET', 'EPIPE'].some((code) => isErrno(error, code))) return null;
    throw error;
  } finally {
    socket.destroy();
  }
}

/** Null for an empty answer: the agent API was killed before it answered. */
function portIn(answer: string): number | null {
  if (answer === '') return null;
  const { port, fault } = JSON.parse(answer) as { port?: number; fault?: FaultBody };
  if (fault) throw Fault.from(fault);
  return port ?? null;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function launch(paths: ApiPaths, program: string): ChildProcess {
  mkdirSync(paths.folder, { recursive: true, mode: 0o700 });
  const log = openLog(logPath(paths));
  // Its own session: signals of the terminal that `start` was run in do not reach it.
  const child = spawn(process.execPath, [program, 'serve', JSON.stringify(paths)], {
    stdio: ['ignore', log, log],
    cwd: '/',
    detached: true,
  });
  child.unref();
  closeSync(log);
  return child;
}
