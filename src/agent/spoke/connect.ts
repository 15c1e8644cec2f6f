/**
 * The spoke of a project that runs elsewhere: dials the hub, answers over that connection, and dials again when it is lost.
 * `CODEBUDDY_URL` (or `CARREL_HUB_URL`), `PROJECT_ID`, and `CODEBUDDY_TOKEN` or `CODEBUDDY_TOKEN_FILE` say where and who.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { Backoff } from '../../lib/backoff.ts';
import { type StreamSocket, streamsOf } from '../../lib/socket-streams.ts';
import { Fault } from '../../model/fault.ts';
import { spokeSubprotocol } from '../../model/spoke.ts';
import { serve } from './serve.ts';

/** A hub that is silent for so long, its pings included, is gone. */
const silenceMs = 90_000;

type Environment = Readonly<Record<string, string | undefined>>;

export async function connect(folder: string, env: Environment): Promise<never> {
  const backoff = new Backoff();
  // The reader of its messages may end before it.
  process.stderr.on('error', () => {});
  for (;;) {
    const failure = await once(folder, env, () => backoff.succeeded()).catch((error: Error) => error.message);
    process.stderr.write(`carrel-spoke: ${failure}; trying again\n`);
    backoff.failed(performance.now());
    await sleep(backoff.waitMs(performance.now()) || 100);
  }
}

/** Answers with why the connection ended. */
async function once(folder: string, env: Environment, opened: () => void): Promise<string> {
  const { url, token } = addressOf(env);
  const socket = new WebSocket(url, spokeSubprotocol, { headers: { Authorization: `Bearer ${token}` } });
  // Before it is open: the first message may come with the end of the handshake.
  const { stdin, stdout } = streamsOf(socket as StreamSocket);
  const closed = new Promise<string>((resolve) => {
    socket.once('close', (code: number, reason: Buffer) =>
      resolve(`the hub closed the connection (${code} ${reason})`),
    );
  });
  await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject));
  opened();
  process.stderr.write('carrel-spoke: connected\n');
  watch(socket);
  await serve(folder, stdout, stdin).catch(() => {});
  return closed;
}

function watch(socket: WebSocket): void {
  const timer = setTimeout(() => socket.terminate(), silenceMs);
  for (const event of ['ping', 'message']) socket.on(event, () => timer.refresh());
  socket.once('close', () => clearTimeout(timer));
}

/** Read for each connection: the file of the token may be replaced. */
export function addressOf(env: Environment): { readonly url: string; readonly token: string } {
  const hub = env.CODEBUDDY_URL ?? env.CARREL_HUB_URL;
  const { PROJECT_ID: project } = env;
  const file = env.CODEBUDDY_TOKEN_FILE;
  const token = file === undefined ? env.CODEBUDDY_TOKEN : readFileSync(file, 'utf8');
  if (!hub || !project || !token) {
    const missing = !hub ? 'CODEBUDDY_URL' : !project ? 'PROJECT_ID' : 'CODEBUDDY_TOKEN';
    throw new Fault('invalid', `${missing} is not set`);
  }
  const url = new URL('/spoke', hub.replace(/^http/, 'ws'));
  url.searchParams.set('project', project);
  return { url: url.href, token: token.trim() };
}
