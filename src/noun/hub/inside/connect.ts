/**
 * The spoke of a project that runs elsewhere: dials the hub, answers over that connection, and dials again when it is
 * lost. `CODEBUDDY_URL` (or `CARREL_HUB_URL`), `PROJECT_ID`, and `CODEBUDDY_TOKEN` or `CODEBUDDY_TOKEN_FILE` name hub
 * and project.
 */
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { Backoff } from '../../../lib/flow/backoff.ts';
import { firstBytes } from '../../../lib/process/collect.ts';
import { type StreamSocket, streamsOf } from '../../../lib/wire/socket-streams.ts';
import { asFault, Fault, type FaultBody } from '../../../model/fault.ts';
import { codeText, invisible } from '../../../model/invisible.ts';
import { printable } from '../../../model/name.ts';
import { spokeSubprotocol } from '../model/spoke.ts';
import { serve } from './serve.ts';

/** A hub that sends neither messages nor pings for this time counts as gone. */
const silenceMs = 90_000;
const maxRefusalBytes = 64 * 1024;

type Environment = Readonly<Record<string, string | undefined>>;

export async function connect(folder: string, env: Environment): Promise<never> {
  const backoff = new Backoff();
  // The reader of stderr may end before this program, ignoring.
  process.stderr.on('error', () => {});
  for (let known = ''; ; ) {
    const failure = await once(folder, env, () => backoff.succeeded()).catch(textOf);
    // A failure that repeats is reported once.
    if (failure !== known) process.stderr.write(`carrel-spoke: ${failure}\ncarrel-spoke: trying again\n`);
    known = failure;
    backoff.failed(performance.now());
    await sleep(backoff.waitMs(performance.now()) || 100);
  }
}

function textOf(error: unknown): string {
  const { message, hint } = asFault(error);
  return hint === undefined ? message : `${message}\n  hint: ${hint}`;
}

/** Resolves to the reason why the connection ended. */
async function once(folder: string, env: Environment, opened: () => void): Promise<string> {
  const { url, token } = addressOf(env);
  const socket = new WebSocket(url, spokeSubprotocol, { headers: { Authorization: `Bearer ${token}` } });
  // The streams exist before the socket is open: the first message may come with the end of the handshake.
  const { stdin, stdout } = streamsOf(socket as StreamSocket);
  const closed = new Promise<string>((resolve) => {
    socket.once('close', (code: number, reason: Buffer) =>
      resolve(`the hub closed the connection (${[code, plain(String(reason))].join(' ').trim()})`),
    );
  });
  await open(socket, url);
  opened();
  process.stderr.write('carrel-spoke: connected\n');
  watch(socket);
  await serve(folder, stdout, stdin).catch(() => {});
  return closed;
}

function open(socket: WebSocket, url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', (error: Error) => reject(unreachable(error, url)));
    socket.once('unexpected-response', async (_request: unknown, response: IncomingMessage) => {
      reject(await refusalIn(response));
      socket.terminate();
    });
  });
}

function unreachable(error: NodeJS.ErrnoException, url: string): Fault {
  const isUntrusted = /CERT|SELF_SIGNED|ISSUER/.test(error.code ?? '');
  return new Fault('unavailable', `${new URL(url).origin} cannot be reached: ${error.message || error.code}`, {
    ...(isUntrusted ? { hint: 'NODE_EXTRA_CA_CERTS names a PEM file with the authority of a certificate.' } : {}),
  });
}

/** The refusal of a hub that does not open the connection. A proxy in between may answer with any text. */
async function refusalIn(response: IncomingMessage): Promise<Fault> {
  const text = await firstBytes(response, maxRefusalBytes).then(String, () => '');
  try {
    const { code, message, hint } = JSON.parse(text) as FaultBody;
    return Fault.from({ code, message: `the hub refuses the connection: ${plain(message)}`, hint: plain(hint ?? '') });
  } catch {
    return new Fault('unavailable', `this is not a hub: it answers with status ${response.statusCode}`, {
      hint: 'CODEBUDDY_URL names the port of the hub, such as ws://HOST:3000.',
    });
  }
}

function watch(socket: WebSocket): void {
  const timer = setTimeout(() => socket.terminate(), silenceMs);
  for (const event of ['ping', 'message']) socket.on(event, () => timer.refresh());
  socket.once('close', () => clearTimeout(timer));
}

function plain(text: string): string {
  return text.replace(invisible, codeText);
}

/** Reads the address for each connection again, because the file of the token may be replaced. */
export function addressOf(env: Environment): { readonly url: string; readonly token: string } {
  const hub = env.CODEBUDDY_URL ?? env.CARREL_HUB_URL;
  const { PROJECT_ID: project } = env;
  const token = tokenOf(env);
  if (!hub || !project || !token) {
    const missing = !hub ? 'CODEBUDDY_URL' : !project ? 'PROJECT_ID' : 'CODEBUDDY_TOKEN_FILE';
    throw new Fault('invalid', `the environment variable ${missing} is not set`);
  }
  const url = urlOf(hub);
  url.searchParams.set('project', project);
  return { url: url.href, token: token.trim() };
}

function tokenOf({ CODEBUDDY_TOKEN_FILE: file, CODEBUDDY_TOKEN: token }: Environment): string | undefined {
  if (file === undefined) return token;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Fault('invalid', `CODEBUDDY_TOKEN_FILE cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function urlOf(hub: string): URL {
  try {
    return new URL('/spoke', hub.replace(/^http/, 'ws'));
  } catch (error) {
    throw new Fault('invalid', `CODEBUDDY_URL is not a URL: ${printable(hub)}`, {
      hint: 'Such as ws://HOST:3000 or wss://HOST:3000.',
      cause: error,
    });
  }
}
