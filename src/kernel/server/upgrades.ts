/** Routes that switch the connection to a framed stream. */
import type http from 'node:http';
import type { Duplex } from 'node:stream';
import { validated } from '../../lib/schema/validated.ts';
import { methodAndPath } from '../../lib/wire/api.ts';
import { FramedConnection } from '../../lib/wire/framed-connection.ts';
import { refusalText } from '../../lib/wire/refusal.ts';
import { streamProtocol } from '../../lib/wire/stream.ts';
import { asFault, Fault } from '../../model/fault.ts';
import { admit, credentialsIn } from './admission.ts';
import { beginAct } from './auditing.ts';
import { peerOfSocket } from './peer.ts';
import { endWith, type Route } from './route.ts';
import type { Serving, SocketPolicy } from './server.ts';

interface Connection {
  readonly socket: Duplex;
  /** Bytes of the stream that arrived with the request. */
  readonly head: Buffer;
}

export function serveUpgrades(server: http.Server, serving: Serving, policy: SocketPolicy): void {
  const targets = serving.routes.filter(({ answer }) => answer === 'upgrade').map(targetOf);
  server.on('upgrade', (request: http.IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    serve(serving, policy, targets, request, { socket, head }).catch((error: unknown) =>
      refuse(socket, asFault(error)),
    );
  });
}

interface Target {
  readonly route: Route;
  readonly method: string;
  readonly pattern: RegExp;
}

function targetOf(route: Route): Target {
  const { method, path } = methodAndPath(route.key);
  return { route, method, pattern: new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`) };
}

async function serve(
  serving: Serving,
  { isOwners, authenticated }: SocketPolicy,
  targets: readonly Target[],
  request: http.IncomingMessage,
  connection: Connection,
): Promise<void> {
  const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const peer = peerOfSocket(request.socket);
  const actor = admit(serving, credentialsIn(headers, isOwners), peer);
  authenticated(request.socket);
  const found = find(targets, request);
  if (found === null || request.headers.upgrade !== streamProtocol) throw new Fault('not_found', 'no such stream');
  const { route, path, search } = found;
  const query = route.query ? validated(route.query, Object.fromEntries(search), 'query') : undefined;
  const gone = new AbortController();
  connection.socket.once('close', () => gone.abort());
  const checked = { actor, scope: serving.scopes.of(actor), name: path.name ?? '', path, query, signal: gone.signal };
  const openAct = beginAct(serving, route, checked, peer);
  try {
    const handle = route.handle as (request: object) => Promise<void>;
    await handle({ ...checked, openAct, accept: () => accept(connection) });
  } catch (error) {
    endWith(openAct, error);
    throw error;
  }
}

function find(targets: readonly Target[], { url, method }: http.IncomingMessage) {
  const { pathname, searchParams } = new URL(url ?? '/', 'http://carrel');
  for (const target of targets) {
    const found = target.pattern.exec(pathname);
    if (!found || method !== target.method) continue;
    const names = Object.entries(found.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]);
    return { route: target.route, path: Object.fromEntries(names) as Record<string, string>, search: searchParams };
  }
  return null;
}

function accept({ socket, head }: Connection): FramedConnection {
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${streamProtocol}\r\n\r\n`);
  return new FramedConnection(socket, head);
}

function refuse(socket: Duplex, fault: Fault): void {
  if (socket.writable) socket.end(refusalText(fault));
}
