/**
 * The routes of sessions. All that a client reads comes from the copies on the host; all that changes a session goes to the agent API of its
 * sandbox, which is started first if necessary.
 *
 * Tokens for port 3002 are shown once. Revoking one also ends streams that are open.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import { z } from 'zod';
import { declare, definedDetail, type RouteAct, type SseEvent } from '../../../kernel/server/route.ts';
import { count, flag } from '../../../lib/schema/query.ts';
import { EncodedJson } from '../../../lib/wire/encoded-json.ts';
import * as shape from '../api.ts';
import type { CopiedEvent, Sessions } from '../session.ts';
import { checkId, positionOf, type UserSessions } from './user-sessions.ts';

export interface SessionScope {
  readonly sessions: UserSessions;
  readonly liveSessions: Pick<Sessions, 'start'>;
}

const { noun, route } = declare<SessionScope>();
const view = shape.sessionView;

export const session = noun({
  routes: [
    route('GET /v1/sessions', {
      id: 'listAllSessions',
      summary: 'The sessions of the user, in all sandboxes',
      answer: z.array(view),
      act: null,
      handle: ({ scope }) => scope.sessions.all(),
    }),
    route('POST /v1/sessions', {
      id: 'createSandboxAndSession',
      summary:
        'Create a sandbox with a working copy of a project and what the agent needs, and a session in it; repeated with the same `sessionId`, the same sandbox and session',
      body: shape.sandboxSessionRequest,
      answer: view,
      usesSettings: true,
      act: ({ body: { project, name, agent, title } }) => ({
        verb: 'session.create',
        names: name === undefined ? [] : [name],
        words: { 'the title': [title] },
        detail: definedDetail({ project, agent }),
      }),
      done: ({ sandbox, sessionId }) => ({ targets: [{ name: sandbox }, { name: sessionId }] }),
      handle: ({ scope, body }) => scope.sessions.createWithSandbox(body),
    }),
    route('GET /v1/sandboxes/{name}/sessions', {
      id: 'listSessions',
      summary: 'The sessions in a sandbox',
      answer: z.array(view),
      act: null,
      handle: ({ scope, name }) => scope.sessions.list(name),
    }),
    route('POST /v1/sandboxes/{name}/sessions', {
      id: 'createSession',
      summary: 'Create a session in a sandbox; the command of the sandbox keeps running',
      body: shape.sessionRequest,
      answer: view,
      usesSettings: true,
      act: ({ name, body: { agent, title } }) => ({
        verb: 'session.create',
        names: [name],
        words: { 'the title': [title] },
        detail: definedDetail({ agent }),
      }),
      done: ({ sandbox, sessionId }) => ({ targets: [{ name: sandbox }, { name: sessionId }] }),
      handle: ({ scope, name, body }) => scope.sessions.create(name, body),
    }),
    route('GET /v1/sandboxes/{name}/sessions/{id}', {
      id: 'showSession',
      summary: 'One session; with `changes`, also the number of changed files of the working copy',
      query: z.strictObject({ changes: flag.optional() }),
      answer: view,
      act: null,
      handle: ({ scope, name, path, query }) => scope.sessions.show(name, checkId(path.id), query.changes ?? false),
    }),
    route('DELETE /v1/sandboxes/{name}/sessions/{id}', {
      id: 'removeSession',
      summary: 'Remove a session with its log; in a sandbox that is stopped, its files go at the next start',
      answer: view,
      act: (request) => ({ ...acted('session.remove')(request), frees: true }),
      handle: ({ scope, name, path }) => scope.sessions.remove(name, checkId(path.id)),
    }),
    // The audit log does not have the text, which is in the log of the session.
    route('POST /v1/sandboxes/{name}/sessions/{id}/prompt', {
      id: 'promptSession',
      summary: 'Send a prompt to the agent; a repeated request with the same `turnId` is the same prompt',
      body: shape.promptRequest,
      answer: shape.turnView,
      status: 202,
      usesSettings: true,
      act: acted('session.prompt'),
      done: ({ turnId }) => ({ detail: { turnId } }),
      handle: ({ scope, name, path, body }) => scope.sessions.prompt(name, checkId(path.id), body),
    }),
    route('GET /v1/sandboxes/{name}/sessions/{id}/events', {
      id: 'followSession',
      summary: 'Events after a sequence number, then new ones (server-sent events; honours Last-Event-ID)',
      query: z.strictObject({ after: count.optional() }),
      answer: 'sse',
      act: null,
      handle: async ({ scope, name, path, query, lastEventId, signal }) =>
        sent(await scope.sessions.follow(name, checkId(path.id), positionOf(lastEventId, query.after), signal)),
    }),
    route('GET /v1/sandboxes/{name}/sessions/{id}/messages', {
      id: 'listSessionMessages',
      summary: 'The messages of a session, built from its events',
      answer: z.array(shape.messageView),
      act: null,
      handle: async ({ scope, name, path }) => encodedList(await scope.sessions.messages(name, checkId(path.id))),
    }),
    route('POST /v1/sandboxes/{name}/sessions/{id}/cancel', {
      id: 'cancelTurn',
      summary: 'End the running turn, and its questions',
      answer: view,
      act: acted('session.cancel'),
      handle: ({ scope, name, path }) => scope.sessions.cancel(name, checkId(path.id)),
    }),
    route('GET /v1/sandboxes/{name}/sessions/{id}/pending', {
      id: 'listPending',
      summary: 'Questions of the agent that are not answered yet',
      answer: z.array(shape.questionView).readonly(),
      act: null,
      handle: ({ scope, name, path }) => scope.sessions.pending(name, checkId(path.id)),
    }),
    route('POST /v1/sandboxes/{name}/sessions/{id}/pending/{pid}', {
      id: 'answerPending',
      summary: 'Answer a question; the first answer counts',
      body: shape.answerRequest,
      answer: view,
      usesSettings: true,
      act: acted('session.answer'),
      handle: ({ scope, name, path, body }) => scope.sessions.answer(name, checkId(path.id), path.pid, body),
    }),
    route('POST /v1/sandboxes/{name}/sessions/{id}/fork', {
      id: 'forkSession',
      summary: 'A new session with the events of this one',
      body: shape.forkRequest,
      answer: view,
      usesSettings: true,
      act: (request) => ({ ...acted('session.fork')(request), words: { 'the title': [request.body.title] } }),
      done: ({ sessionId }) => ({ detail: { fork: sessionId } }),
      handle: ({ scope, name, path, body }) => scope.sessions.fork(name, checkId(path.id), body),
    }),
    route('POST /v1/sandboxes/{name}/sessions/{id}/close', {
      id: 'closeSession',
      summary: 'Accept no more prompts',
      answer: view,
      act: acted('session.close'),
      handle: ({ scope, name, path }) => scope.sessions.close(name, checkId(path.id)),
    }),
    route('POST /v1/sandboxes/{name}/sessions/{id}/mode', {
      id: 'configureSession',
      summary: 'Set the mode, the model or the title',
      body: shape.configureRequest,
      answer: view,
      act: (request) => ({
        ...acted('session.configure')(request),
        words: { 'the title': [request.body.title] },
        detail: definedDetail({ mode: request.body.mode, model: request.body.model }),
      }),
      handle: ({ scope, name, path, body }) => scope.sessions.configure(name, checkId(path.id), body),
    }),
    route('GET /v1/sandboxes/{name}/session-tokens', {
      id: 'listSessionTokens',
      summary: 'Tokens for port 3002 of a sandbox: ids, never the tokens',
      answer: z.array(shape.sessionTokenView),
      act: null,
      handle: ({ scope, name }) => scope.sessions.tokens.list(name),
    }),
    route('POST /v1/sandboxes/{name}/session-tokens', {
      id: 'createSessionToken',
      summary: 'Make a token for port 3002 of a sandbox; it is shown only in this answer',
      answer: shape.newSessionToken,
      usesSettings: true,
      act: ({ name }) => ({ verb: 'session.token.create', names: [name] }),
      done: ({ id }) => ({ detail: { token: id } }),
      handle: ({ scope, name }) => scope.sessions.tokens.create(name),
    }),
    route('DELETE /v1/sandboxes/{name}/session-tokens/{id}', {
      id: 'removeSessionToken',
      summary: 'Revoke a token, also for streams that are open',
      answer: shape.sessionTokenView,
      act: ({ name, path }) => ({ verb: 'session.token.remove', names: [name, path.id], frees: true }),
      handle: ({ scope, name, path }) => scope.sessions.tokens.remove(name, path.id),
    }),
  ],
  start: ({ liveSessions }, observed) => void observed.then(() => liveSessions.start()),
});

function acted(verb: string): (request: { name: string; path: { readonly id: string } }) => RouteAct {
  return ({ name, path }) => ({ verb, names: [name, path.id] });
}

async function* sent(events: AsyncIterable<CopiedEvent>): AsyncGenerator<SseEvent> {
  for await (const { event, line } of events) yield { id: String(event.seq), data: line };
}

const breatheBytes = 256 * 1024;

/** The messages can be large together, so other requests are answered in between. */
async function encodedList(values: readonly object[]): Promise<EncodedJson> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for (const value of values) {
    const piece = Buffer.from(`${pieces.length === 0 ? '' : ','}${JSON.stringify(value)}`);
    pieces.push(piece);
    if (Math.floor((bytes + piece.length) / breatheBytes) > Math.floor(bytes / breatheBytes)) await breathe();
    bytes += piece.length;
  }
  return new EncodedJson(Buffer.concat([Buffer.from('['), ...pieces, Buffer.from(']')]));
}
