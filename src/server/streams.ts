/** The upgraded routes: `attach` and `exec` as framed streams. */
import type http from 'node:http';
import type { Duplex } from 'node:stream';
import { z } from 'zod';
import { methodAndPath } from '../api/api.ts';
import { type ExecRequest, execRequest } from '../api/sandbox.ts';
import { decodeJson, streamProtocol } from '../api/stream.ts';
import { validated } from '../api/validated.ts';
import { mendLine, outputMissing, Passed } from '../app/sandbox/broken-line.ts';
import { noteMemoryKill } from '../app/sandbox/record.ts';
import type { Sandboxes } from '../app/sandbox/sandboxes.ts';
import type { Begun } from '../audit/audit.ts';
import type { Console, Engine, ExecSpec, Process } from '../engine/engine.ts';
import { notStarted } from '../engine/exit.ts';
import { networkEnv } from '../launch/network.ts';
import { asFault, Fault, isFault } from '../model/fault.ts';
import { hasEnded, type Sandbox } from '../model/sandbox.ts';
import { admit, beginAct, endWith, peerOfSocket } from './auditing.ts';
import type { Served } from './handlers.ts';
import { refusalText } from './refusal.ts';
import type { Scope } from './scope.ts';
import { type Admitted, visitOf } from './server.ts';
import { Peer } from './stream-peer.ts';

/** Of a sandbox whose end nobody saw. */
const unknownExit = 255;

const resizeFrame = execRequest.shape.terminal.unwrap();
const signalFrame = z.strictObject({
  name: z.enum([
    'SIGINT',
    'SIGTERM',
    'SIGHUP',
    'SIGQUIT',
    'SIGKILL',
    'SIGUSR1',
    'SIGUSR2',
    'SIGWINCH',
    'SIGCONT',
    'SIGTSTP',
  ]),
});

export function serveUpgrades(
  server: http.Server,
  served: Served,
  ownersDoor = true,
  authenticated: Admitted = () => {},
): void {
  const door = { ownersDoor, authenticated };
  server.on('upgrade', (request: http.IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    void serve(request, socket, head, served, door).catch((error: unknown) => refuse(socket, asFault(error)));
  });
}

async function serve(
  request: http.IncomingMessage,
  socket: Duplex,
  head: Buffer,
  served: Served,
  { ownersDoor, authenticated }: { readonly ownersDoor: boolean; readonly authenticated: Admitted },
): Promise<void> {
  const target = matchRoute(request);
  const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const peer = peerOfSocket(request.socket);
  const actor = admit(served, visitOf(headers, ownersDoor), peer);
  authenticated(request.socket);
  if (target === null || request.headers.upgrade !== streamProtocol) throw new Fault('not_found', 'no such stream');
  const begun = beginAct(served, target.route, { actor, name: target.name }, peer);
  try {
    await open(target, { socket, head, begun }, served, served.scopes.of(actor));
  } catch (error) {
    endWith(begun, error);
    throw error;
  }
}

interface Door {
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly begun: Begun;
}

async function open({ route, name }: Target, door: Door, served: Served, scope: Scope): Promise<void> {
  const { sandboxes } = scope;
  const { socket, head, begun } = door;
  const row = await sandboxes.current(name);
  if (hasEnded(row.value.status) && route === 'POST /v1/sandboxes/{name}/exec') {
    throw notRunning(row.value);
  }
  const engine = served.engineOf(row.value);
  const accept = () =>
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${streamProtocol}\r\n\r\n`);
  if (route === 'POST /v1/sandboxes/{name}/exec') {
    engine.expect();
    accept();
    return serveExec(new Peer(socket, head), begun, served, sandboxes, row.value);
  }
  const release = sandboxes.hold(row.id);
  try {
    const console = await engine.attach(row.id, row.value.status.handle).catch((error: unknown) => {
      throw isFault(error, 'not_ready') ? notRunning(row.value) : error;
    });
    begun.end('ok');
    accept();
    await serveConsole(new Peer(socket, head), console, { engine, scope, sandbox: row.value });
  } finally {
    await release();
  }
}

/** Starting again what could not be started does not help. */
function notRunning({ name, status }: Sandbox): Fault {
  const hint =
    status.exitCode === notStarted
      ? `Its command could not be started; see: carrel logs ${name}`
      : `Start it with: carrel start ${name}`;
  return new Fault('not_ready', `${name} is not running`, { hint });
}

interface Target {
  readonly route: 'GET /v1/sandboxes/{name}/attach' | 'POST /v1/sandboxes/{name}/exec';
  readonly name: string;
}

function matchRoute(request: http.IncomingMessage): Target | null {
  const url = new URL(request.url ?? '/', 'http://carrel');
  for (const route of ['GET /v1/sandboxes/{name}/attach', 'POST /v1/sandboxes/{name}/exec'] as const) {
    const { method, path } = methodAndPath(route);
    const pattern = new RegExp(`^${path.replace('{name}', '([^/]+)')}$`);
    const name = pattern.exec(url.pathname)?.[1];
    if (name && request.method === method) return { route, name: decodeURIComponent(name) };
  }
  return null;
}

function refuse(socket: Duplex, fault: Fault): void {
  if (socket.writable) socket.end(refusalText(fault));
}

interface Attached {
  readonly engine: Engine;
  readonly scope: Scope;
  readonly sandbox: Sandbox;
}

async function serveConsole(peer: Peer, console: Console, attached: Attached): Promise<void> {
  const gone = new AbortController();
  peer.onGone = () => {
    gone.abort();
    console.detach();
  };
  if (peer.gone) peer.onGone();
  takeInput(peer, console, async () => {});
  const passed = new Passed();
  await Promise.all(
    (['stdout', 'stderr'] as const).map((name) => {
      console[name].on('data', (chunk: Buffer) => passed.add(name, chunk.length));
      return peer.forward(name, console[name]);
    }),
  );
  if (peer.gone) return;
  try {
    peer.finish('exit', await exitOfLine(peer, attached, passed, gone.signal));
  } catch (error) {
    peer.finish('fault', asFault(error));
  }
}

/** An engine that went away meanwhile may have taken output along, and then a good end is not told as one. */
async function exitOfLine(peer: Peer, { engine, scope, sandbox }: Attached, passed: Passed, signal: AbortSignal) {
  const whole = await mendLine({
    ...{ engine, sandbox, passed, signal },
    send: (stream, bytes) => peer.send(stream, bytes),
    note: (message) => peer.note(message),
    onReturn: () => takeInputAgain(peer, engine, sandbox),
  });
  if (!whole) await scope.sandboxes.current(sandbox.name).catch(() => {});
  const exit = await exitOf(scope, sandbox, signal);
  if (!whole && exit.exitCode === 0) throw outputMissing(sandbox.name);
  return exit;
}

/** Over another console, whose output is in the log as well. */
async function takeInputAgain(peer: Peer, engine: Engine, { id, spec, status }: Sandbox): Promise<void> {
  if (!spec.stdin) return;
  // It may have ended since, ignoring.
  const console = await engine.attach(id, status.handle).catch(() => null);
  if (console === null) return;
  console.stdout.resume();
  console.stderr.resume();
  takeInput(peer, console, async () => {});
}

async function serveExec(
  peer: Peer,
  begun: Begun,
  served: Served,
  sandboxes: Sandboxes,
  sandbox: Sandbox,
): Promise<void> {
  try {
    const request = validated(execRequest, decodeJson(await peer.first()), 'request');
    sandboxes.checkCommand(request.env ?? {}, request.command);
    await served.commandBegins(sandbox);
    const process = await served
      .engineOf(sandbox)
      .exec(sandbox.id, sandbox.status.handle, execSpec(request, sandbox, sandboxes.cwd(sandbox)));
    begun.end('ok', { detail: { program: request.command[0] ?? '' } });
    if (!request.stdin) process.stdin.end();
    peer.onGone = () => (request.bound ? void process.signal('SIGKILL').catch(() => {}) : undefined);
    if (peer.gone) peer.onGone();
    takeInput(peer, process, (name) => process.signal(name));
    await Promise.all([peer.forward('stdout', process.stdout), peer.forward('stderr', process.stderr)]);
    const exit = await process.exited;
    await served.commandEnded(sandbox);
    if (exit.outOfMemory) noteMemoryKill(served.store, sandbox.id, request.command[0] ?? '');
    peer.finish('exit', exit);
  } catch (error) {
    endWith(begun, error);
    peer.finish('fault', asFault(error));
  }
}

function execSpec(request: ExecRequest, { spec }: Sandbox, cwd: string): ExecSpec {
  return {
    command: request.command,
    env: networkEnv(spec, request.env),
    cwd: request.cwd ?? cwd,
    stdin: request.stdin ?? false,
    terminal: request.terminal ?? null,
  };
}

function takeInput(peer: Peer, console: Console | Process, signal: (name: NodeJS.Signals) => Promise<void>): void {
  console.stdin.on('error', () => {});
  console.stdin.on('drain', () => peer.deliver());
  peer.onFrame = (frame) => {
    if (frame.type === 'stdin') return input(console, frame.payload);
    if (frame.type === 'resize') {
      const { rows, columns } = validated(resizeFrame, decodeJson(frame), 'resize');
      void console.resize(rows, columns).catch(() => {});
    }
    if (frame.type === 'signal') void signal(validated(signalFrame, decodeJson(frame), 'signal').name).catch(() => {});
    return true;
  };
  peer.deliver();
}

function input(console: Console, payload: Buffer): boolean {
  if (payload.length > 0) return console.stdin.writableEnded || console.stdin.write(payload);
  console.stdin.end();
  return true;
}

/** How the sandbox ended; a detached console says nothing about that, so the record is asked. */
async function exitOf({ sandboxes, network }: Scope, sandbox: Sandbox, signal: AbortSignal) {
  const view = await sandboxes.ended(sandbox, signal);
  const unknown = view.state === 'completed' ? 0 : unknownExit;
  const refused = await network.refusedBy(sandbox);
  return { exitCode: view.exitCode ?? unknown, signal: view.signal, outOfMemory: view.reason === 'oom', refused };
}
