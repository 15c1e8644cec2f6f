/**
 * HTTP for the routes that nouns declare. A request passes in this order: authenticate, validate query and body against
 * the schemas, read config.yaml again if the route depends on it, begin the act in the audit log, call the handler, end the act, answer.
 *
 * Promises: a handler sees only valid input and the scope of the authenticated user. No act is answered before its line is in
 * the audit log. Every refusal is `{code, message, hint?, data?}` with the HTTP status of its code. A client that goes away
 * aborts the signal of its request. The server knows no noun: it gets routes and scopes from the daemon.
 */

import type http from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { Hono, type Context as HonoContext } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import type { Build } from '../../lib/file/package.ts';
import { olderThan } from '../../lib/flow/build-age.ts';
import { validated } from '../../lib/schema/validated.ts';
import { clientHeader, methodAndPath, noticeHeader } from '../../lib/wire/api.ts';
import { readJsonText } from '../../lib/wire/bounded-json.ts';
import { asFault, Fault, faultTable } from '../../model/fault.ts';
import type { Actor } from '../../model/user.ts';
import type { Settings } from '../settings/settings.ts';
import { type Accounts, admit, credentialsIn } from './admission.ts';
import { json, streamed } from './answer.ts';
import { type Auditing, audited, type CheckedRequest, type SecretCheck } from './auditing.ts';
import { peerOfSocket } from './peer.ts';
import type { Route } from './route.ts';

export interface Serving extends Auditing {
  readonly routes: readonly Route[];
  /** Null: the program runs from source, without a build. */
  readonly build: Build | null;
  readonly settings: Pick<Settings, 'refresh' | 'refusal' | 'notice'>;
  readonly users: Accounts;
  readonly scopes: { of(actor: Actor): SecretCheck };
  /** Adds to a Fault for a full disk what the user can remove. */
  readonly spaceHints: { named(fault: Fault, user: string): Promise<Fault> };
}

/** One of the daemon's sockets. */
export interface SocketPolicy {
  /** Only the owner can connect, so a request without a token is from the owner. */
  readonly isOwners: boolean;
  /** Called with the connection of each request that was authenticated. */
  readonly authenticated: (socket: Socket) => void;
}

const maxBodyBytes = 12 * 1024 * 1024;
/** The actor of routes that need no authentication. */
const anonymous: Actor = { name: '', isOwner: false };

export function createApp(serving: Serving, policy: SocketPolicy): Hono {
  const app = new Hono();
  for (const route of serving.routes) {
    if (route.answer === 'upgrade') continue;
    const { method, path } = methodAndPath(route.key);
    app.on(method, path.replaceAll(/\{(\w+)\}/g, ':$1'), (context) => serve(serving, policy, route, context));
  }
  app.notFound((context) =>
    refuse(context, new Fault('not_found', `no route ${context.req.method} ${context.req.path}`)),
  );
  app.onError((error, context) => refuse(context, asFault(error)));
  return app;
}

async function serve(serving: Serving, policy: SocketPolicy, route: Route, context: HonoContext): Promise<Response> {
  const socket = incoming(context)?.socket;
  const peer = peerOfSocket(socket);
  const actor = route.open ? anonymous : admit(serving, credentialsIn(context.req.raw.headers, policy.isOwners), peer);
  if (socket && !route.open) policy.authenticated(socket);
  const gone = new AbortController();
  const request = await checked(route, context, { actor, scope: serving.scopes.of(actor), gone: gone.signal });
  if (route.usesSettings) refreshFor(serving.settings, actor);
  const { answer, openAct } = await audited(serving, route, request, peer).catch(async (error: unknown) => {
    throw await serving.spaceHints.named(asFault(error), actor.name);
  });
  if (typeof route.answer === 'string' && route.answer !== 'document')
    return streamed(context, route.answer, answer, { openAct, gone });
  const notice = actor.isOwner ? serving.settings.notice() : olderNotice(serving.build, context);
  if (notice !== null) context.header(noticeHeader, encodeURIComponent(notice));
  context.status(route.status ?? 200);
  return json(context, answer);
}

/** Undefined: the request did not come over a socket. */
function incoming({ env }: HonoContext): http.IncomingMessage | undefined {
  return (env as { readonly incoming?: http.IncomingMessage } | undefined)?.incoming;
}

async function checked(
  route: Route,
  context: HonoContext,
  { actor, scope, gone }: { readonly actor: Actor; readonly scope: SecretCheck; readonly gone: AbortSignal },
): Promise<CheckedRequest> {
  return {
    actor,
    scope,
    name: context.req.param('name') ?? '',
    path: context.req.param(),
    query: route.query ? validated(route.query, context.req.query(), 'query') : undefined,
    body: route.body ? validated(route.body, await readBody(context), 'body') : undefined,
    lastEventId: context.req.header('last-event-id'),
    // The signal is made on demand: few handlers need it, and it costs more than the rest of a short request.
    get signal() {
      return AbortSignal.any([context.req.raw.signal, gone]);
    },
  };
}

async function readBody(context: HonoContext): Promise<unknown> {
  const text = await readJsonText(bodyOf(context), maxBodyBytes);
  if (text === null) throw new Fault('invalid', `the request is larger than ${maxBodyBytes} bytes`);
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch (error) {
    throw new Fault('invalid', 'the body is not JSON', { cause: error });
  }
}

/** Reads from the socket if there is one: a web stream around it costs more than the rest of a short request. */
function bodyOf(context: HonoContext): AsyncIterable<Uint8Array> {
  const request = incoming(context);
  if (request !== undefined) return request.iterator({ destroyOnReturn: false });
  return context.req.raw.body ?? Readable.from([]);
}

/** Only the owner can correct config.yaml, so requests of other users use the last valid settings. */
export function refreshFor(settings: Pick<Settings, 'refresh' | 'refusal'>, { isOwner }: Actor): void {
  if (isOwner) settings.refresh();
  else settings.refusal();
}

function refuse(context: HonoContext, fault: Fault): Response {
  return context.json(fault.toJSON(), faultTable[fault.code].http as ContentfulStatusCode);
}

const text = z.string().max(100);
const buildShape = z.strictObject({ version: text, build: text, builtAt: text });

/**
 * The notice that the daemon is older than the command. The owner's commands read the build in the home; others send
 * their own.
 */
function olderNotice(build: Build | null, context: HonoContext): string | null {
  const header = context.req.header(clientHeader);
  if (header === undefined || build === null) return null;
  try {
    const older = olderThan(build, validated(buildShape, JSON.parse(decodeURIComponent(header)), clientHeader));
    return older && `${older}; its owner restarts it with: carrel down`;
  } catch {
    // The header is not a build, ignoring: it is used only for a notice.
    return null;
  }
}
