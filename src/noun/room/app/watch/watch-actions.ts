/** What watchers do with a message. Each action resolves when it is done, or rejects with a Fault that says why not. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Process } from '../../../../kernel/engine/engine.ts';
import { withTimeout } from '../../../../lib/flow/with-timeout.ts';
import { collect } from '../../../../lib/process/collect.ts';
import { spawnFault } from '../../../../lib/process/run.ts';
import { signalNumber } from '../../../../lib/process/signal.ts';
import { asFault, Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import type { RoomMessage } from '../../model/room.ts';
import { promptFor } from '../../model/watch.ts';
import { fileTextOf } from '../../view/message-file.ts';
import { hmacOf } from '../../webhook.ts';

/** A message and the room it is in. */
export interface Delivered {
  readonly room: string;
  readonly who: string;
  readonly message: RoomMessage;
}

const runMs = 10 * 60_000;
const wakeMs = 60 * 60_000;
const webhookMs = 15_000;
const maxOutputBytes = 64 * 1024;
const maxReasonLength = 300;

/**
 * The program reads the message from stdin, as its file has it. It gets a small environment, not that of the daemon.
 */
export async function runProgram(
  argv: readonly string[],
  scratch: string,
  delivered: Delivered,
  signal: AbortSignal,
): Promise<void> {
  const [file = '', ...args] = argv;
  const stdin = inputFile(scratch, fileTextOf(delivered.message));
  const stdio: [number, 'ignore', 'pipe'] = [stdin, 'ignore', 'pipe'];
  const child = spawn(file, args, { env: environmentOf(delivered), stdio, detached: true, cwd: '/' });
  closeSync(stdin);
  const end = () => endGroup(child);
  signal.addEventListener('abort', end);
  try {
    const errors = collect(child.stderr!, maxOutputBytes);
    const exitCode = await withTimeout(runMs, exitOf(child, file), () => {
      throw new Fault('timeout', `${file} did not end within ${runMs / 60_000} minutes`);
    });
    if (exitCode !== 0) throw new Fault('unavailable', `${file} ended with ${exitCode}${lastOf(errors())}`);
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
}

/** Opens a file and removes its name. Pipes of Node are sockets, which programs cannot open as /dev/stdin. */
function inputFile(scratch: string, text: string): number {
  const path = join(scratch, 'message');
  writeFileSync(path, text, { mode: 0o600 });
  const fd = openSync(path, 'r');
  unlinkSync(path);
  return fd;
}

function exitOf(child: ChildProcess, file: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(spawnFault(file, error)));
    child.on('exit', (code, signal) => resolve(code ?? 128 + signalNumber(signal ?? '')));
  });
}

/** Kills the program with everything that it started. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process group has ended already, ignoring.
  }
}

function environmentOf({ room, who, message }: Delivered): NodeJS.ProcessEnv {
  const { PATH, HOME, LANG } = process.env;
  return {
    ...{ PATH, HOME, LANG, CARREL_ROOM: room, CARREL_WATCHER: who },
    ...{ CARREL_MESSAGE_ID: message.id, CARREL_MESSAGE_FROM: message.from },
  };
}

/** Redirects are not followed. The receiver checks the signature: HMAC-SHA256 of `TIMESTAMP.BODY`. */
export async function postWebhook(
  url: string,
  key: Buffer | null,
  { room, who, message }: Delivered,
  signal: AbortSignal,
): Promise<void> {
  const body = JSON.stringify({ room, to: who, message });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const answer = await fetch(url, {
    ...{ method: 'POST', body, redirect: 'manual', signal: AbortSignal.any([signal, AbortSignal.timeout(webhookMs)]) },
    headers: {
      ...{ 'content-type': 'application/json', 'x-carrel-delivery': message.id, 'x-carrel-timestamp': timestamp },
      ...(key === null ? {} : { 'x-carrel-signature': `sha256=${hmacOf(key, timestamp, body)}` }),
    },
  }).catch((error: unknown) => {
    throw new Fault('unavailable', `${url} does not answer: ${causeOf(error)}`, { cause: error });
  });
  await answer.body?.cancel();
  if (!answer.ok) throw new Fault('unavailable', `${url} answered ${answer.status}`);
}

function causeOf(error: unknown): string {
  return asFault(error instanceof Error && error.cause ? error.cause : error).message;
}

/** Returns what the agent printed. */
export async function wakeAgent(program: Process, delivered: Delivered, signal: AbortSignal): Promise<string> {
  const { room, who, message } = delivered;
  const end = () => void program.signal('SIGKILL').catch(() => {});
  signal.addEventListener('abort', end);
  try {
    program.stdin.on('error', () => {});
    program.stdin.end(promptFor(room, who, message));
    const [output, errors] = [program.stdout, program.stderr].map((stream) =>
      collect(stream as Readable, maxOutputBytes),
    );
    const exit = await withTimeout(wakeMs, program.exited, () => {
      throw new Fault('timeout', `the agent in ${who} did not end within ${wakeMs / 60_000} minutes`);
    });
    const answer = output!().toString('utf8').trim();
    if (exit.exitCode !== 0)
      throw new Fault('unavailable', `the agent ended with ${exit.exitCode}${lastOf(errors!())}`);
    return answer === '' ? 'done' : answer;
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
}

function lastOf(errors: Buffer): string {
  const text = errors.toString('utf8').trim().slice(-maxReasonLength);
  return text === '' ? '' : `: ${printable(text, maxReasonLength)}`;
}
