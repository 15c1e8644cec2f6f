/** HTTP on the daemon's unix socket: checks each request against its route, and turns Faults into answers. */
import { chmodSync, constants, lstatSync, openSync, rmSync, statSync } from 'node:fs';
import http from 'node:http';
import type { Socket } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { Hono, type Context as HonoContext } from 'hono';
import { stream } from 'hono/streaming';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import { actAsHeader, clientHeader, methodAndPath, noticeHeader } from '../api/api.ts';
import { type Route, routes } from '../api/routes.ts';
import { validated } from '../api/validated.ts';
import { socketName } from '../app/home.ts';
import { routesWithSettings } from '../app/settings.ts';
import type { Peer } from '../audit/audit.ts';
import { olderThan } from '../lib/build-age.ts';
import { firstBytes } from '../lib/collect.ts';
import { isErrno } from '../lib/file.ts';
import { jsonPieces } from '../lib/made-json.ts';
import { asFault, consequences, Fault, spaceHint } from '../model/fault.ts';
import type { Actor } from '../model/user.ts';
import { admit, audited, peerOfSocket, type Visit } from './auditing.ts';
import { Connections, limitsFor } from './connections.ts';
import { type Checked, type HandledRoute, handlers, type Served } from './handlers.ts';
import { serveUpgrades } from './streams.ts';

export type Admitted = (socket: Socket) => void;

const maxBodyBytes = 8 * 1024 * 1024;

/** `authenticated` hears of the connections whose requests were admitted. */
export function createApp(served: Served, ownersDoor = true, authenticated: Admitted = () => {}): Hono {
  const app = new Hono();
  for (const [name, handle] of Object.entries(handlers(served))) {
    const route: Route = routes[name as HandledRoute];
    const { method, path } = methodAndPath(name as HandledRoute);
    app.on(method, path.replaceAll(/\{(\w+)\}/g, ':$1'), async (context) => {
      const socket = incoming(context);
      const peer = peerOfSocket(socket);
      const request = await check(route, context, served, {
        ...{ peer, ownersDoor },
        admitted: () => socket && authenticated(socket),
      });
      if (routesWithSettings.has(name as HandledRoute)) refreshFor(served, request.actor);
      const answer = await audited(served, name as HandledRoute, request, peer, (begun) =>
        (handle as (request: unknown) => Promise<object>)({ ...request, begun }),
      ).catch(async (error: unknown) => {
        throw await served.spaceHints.named(asFault(error), request.actor.name);
      });
      if (answer instanceof Response) return answer;
      const notice = request.actor.isOwner ? served.settings.notice() : olderNotice(served, context);
      if (notice !== null) context.header(noticeHeader, encodeURIComponent(notice));
      return answerWith(context, answer);
    });
  }
  app.notFound((context) =>
    refuse(context, new Fault('not_found', `no route ${context.req.method} ${context.req.path}`)),
  );
  app.onError((error, context) => refuse(context, asFault(error)));
  return app;
}

/** The owner's commands find the daemon's build in its home; others say theirs. */
function olderNotice({ build }: Served, context: HonoContext): string | null {
  const said = context.req.header(clientHeader);
  if (said === undefined || build === null) return null;
  try {
    const older = olderThan(build, validated(buildShape, JSON.parse(decodeURIComponent(said)), clientHeader));
    return older && `${older}; its owner restarts it with: carrel down`;
  } catch {
    // Not understood, ignoring: it is for a message alone.
    return null;
  }
}

const buildText = z.string().max(100);
const buildShape = z.strictObject({ version: buildText, build: buildText, builtAt: buildText });

const pieceBytes = 256 * 1024;

/** What is large comes as JSON that was made already, and goes out piece by piece. */
function answerWith(context: HonoContext, answer: object): Response {
  const pieces = jsonPieces(answer);
  if (pieces === null) return context.json(answer);
  context.header('content-type', 'application/json');
  return stream(context, async (out) => {
    for (const piece of pieces)
      for (let at = 0; at < piece.length; at += pieceBytes) await out.write(piece.subarray(at, at + pieceBytes));
  });
}

/** A mistake in the settings is the owner's to correct: others go on with those from before. */
function refreshFor({ settings }: Served, { isOwner }: Actor): void {
  if (isOwner) settings.refresh();
  else settings.refusal();
}

async function check(
  route: Route,
  context: HonoContext,
  served: Served,
  visit: { readonly peer: Peer | null; readonly ownersDoor: boolean; readonly admitted: () => void },
): Promise<Omit<Checked<HandledRoute>, 'begun'>> {
  const { peer, ownersDoor } = visit;
  const actor = isOpen(route) ? stranger : admit(served, visitOf(context.req.raw.headers, ownersDoor), peer);
  if (!isOpen(route)) visit.admitted();
  return {
    actor,
    scope: served.scopes.of(actor),
    name: context.req.param('name') ?? '',
    query: (route.query ? validated(route.query, context.req.query(), 'query') : {}) as never,
    body: (route.body ? validated(route.body, await readBody(context), 'body') : undefined) as never,
    context,
  };
}

/** None where a request did not come over a socket. */
function incoming({ env }: HonoContext): Socket | undefined {
  return (env as { readonly incoming?: http.IncomingMessage } | undefined)?.incoming?.socket;
}

/** Nobody in particular. */
const stranger: Actor = { name: '', isOwner: false };

function isOpen({ id }: Route): boolean {
  return id === 'health' || id === 'openapi';
}

export function visitOf(headers: Headers, ownersDoor: boolean): Visit {
  const as = headers.get(actAsHeader) ?? undefined;
  return { authorization: headers.get('authorization') ?? undefined, as, ownersDoor };
}

async function readBody(context: HonoContext): Promise<unknown> {
  const { body } = context.req.raw;
  const bytes = body === null ? Buffer.alloc(0) : await firstBytes(body, maxBodyBytes + 1);
  if (bytes.length > maxBodyBytes) throw new Fault('invalid', `the request is larger than ${maxBodyBytes} bytes`);
  try {
    return bytes.length === 0 ? {} : JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new Fault('invalid', 'the body is not JSON', { cause: error });
  }
}

function refuse(context: HonoContext, fault: Fault): Response {
  return context.json(fault.toJSON(), consequences[fault.code].http as ContentfulStatusCode);
}

/** By way of the open folder, since a socket's path may be no longer than 107 bytes. */
const maxNameBytes = 107 - '/proc/self/fd/9999/'.length;

/** Where there is something, it is what an earlier daemon left. */
function checkSocket(path: string): void {
  const refused = (why: string) => new Fault('invalid', why, { hint: 'share.socket in config.yaml says where it is.' });
  if (Buffer.byteLength(basename(path)) > maxNameBytes)
    throw refused(`the name of the socket ${path} is longer than ${maxNameBytes} bytes`);
  if (!statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory())
    throw refused(`there is no folder ${dirname(path)} to make a socket in`);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found && !found.isSocket()) throw refused(`${path} is no socket, and stands where one is to be made`);
}

/** False where the disk has no room for a socket. Asked for in the same moment in which some may have been made. */
function bound(server: http.Server, path: string): Promise<boolean> {
  return new Promise<boolean>((resolve, reject) => {
    const failed = (error: Error) => (isErrno(error, 'ENOSPC') ? resolve(false) : reject(error));
    server.once('error', failed);
    server.listen({ path }, () => {
      server.off('error', failed);
      resolve(true);
    });
  });
}

function noRoom(path: string): Fault {
  return new Fault('exhausted', `the disk has no room for the socket ${path}`, { hint: spaceHint });
}

/** Without a path at the door that only the owner can open. */
export async function listen(served: Served, shared?: string, limits = limitsFor()): Promise<http.Server> {
  const own = join(served.home, socketName);
  if (shared === own) throw new Fault('invalid', `share.socket: ${own} is the owner's alone`);
  const [path, ownersDoor] = [shared ?? own, shared === undefined];
  checkSocket(path);
  const connections = ownersDoor ? null : new Connections(limits, (socket) => peerOfSocket(socket)?.uid ?? null);
  const authenticated = (socket: Socket) => connections?.authenticated(socket);
  const app = createApp(served, ownersDoor, authenticated);
  const server = http.createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  server.requestTimeout = 0;
  server.timeout = 0;
  serveUpgrades(server, served, ownersDoor, authenticated);
  connections?.guard(server);
  const folder = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  const bind = () => {
    rmSync(path, { force: true });
    return bound(server, `/proc/self/fd/${folder}/${basename(path)}`);
  };
  while (!(await bind())) if (!served.giveUpSpace()) throw noRoom(path);
  // Whoever comes through the other door shows a token.
  chmodSync(path, ownersDoor ? 0o600 : 0o666);
  return server;
}
