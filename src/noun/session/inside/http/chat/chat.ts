/**
 * `/chat`, as `useChat` of Vercel's `ai` package calls it. A chat is a session: the one with the `id` of the
 * chat, or else the newest. Below `/sessions/{id}` are the same routes for one session.
 */
import { createHash } from 'node:crypto';
import { Fault, isFault } from '../../../../../model/fault.ts';
import { ulidPattern } from '../../../../../model/ulid.ts';
import type { Question } from '../../../model/session.ts';
import type { Session } from '../../inside.ts';
import { type Handler, type HttpCall, readJson } from '../call.ts';
import { eventStream } from '../event-stream.ts';
import type { Reply } from '../reply.ts';
import type { RouteTable } from '../route.ts';
import { answerOf, answersRequest, chatQuestion } from './question.ts';
import { followedTurn, runningTurn, type TurnPart, turnAfter } from './turn-stream.ts';
import { type ChatRequest, chatRequest, contentOf, type SentMessage, uiMessage } from './ui-message.ts';
import { uiStreamHeaders } from './ui-stream.ts';

const [accepted, conflict] = [202, 409];
const approvalsHeader = 'x-approvals';
const turnPattern = /^[A-Za-z0-9_-]{1,64}$/;

const atChat: Readonly<Record<string, Handler>> = {
  'GET /chat': (call) => (accepts(call, 'text/event-stream') ? resumed(call, 'end') : shownChat(call)),
  'POST /chat': (call) => posted(call),
  'DELETE /chat': async (call) => {
    const session = chatOf(call);
    if (session !== null) await call.sessions.remove(session.id);
    return { json: { success: true } };
  },
  'GET /chat/status': (call) => ({ json: status(chatOf(call)) }),
  'POST /chat/cancel': async (call) => cancelled(chatOf(call)),
  'GET /chat/question': (call) => ({ json: question(call, chatOf(call)) }),
  'POST /chat/question': (call) => answered(call),
  'POST /chat/answer': (call) => answered(call),
};

const ofOneSession = Object.entries(atChat).map(([key, handle]) => [key.replace(' ', ' /sessions/{id}'), handle]);

export const chatRoutes: RouteTable = {
  'GET /': () => ({ json: { status: 'ok', service: 'agent' } }),
  ...atChat,
  ...(Object.fromEntries(ofOneSession) as RouteTable),
  // `useChat` requests this path to resume a running turn.
  'GET /chat/{id}/stream': (call) => resumed(call, endOf(call)),
};

/** Maps the chat id of another program to a session id, always to the same one. */
export function sessionIdOf(chat: string): string {
  if (ulidPattern.test(chat)) return chat;
  const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  const bytes = createHash('sha256').update(chat).digest().subarray(0, 26);
  return [...bytes].map((byte, at) => digits[byte % (at === 0 ? 8 : 32)]).join('');
}

/** The session with this id, or the newest one; null: there is none yet. */
function chatOf({ sessions, params, query }: HttpCall, id = params.id ?? query.get('id')): Session | null {
  const all = sessions.list();
  if (id) return all.find((session) => session.id === sessionIdOf(id)) ?? null;
  return all.reduce<Session | null>(
    (newest, one) => (newest && newest.fold.createdAt > one.fold.createdAt ? newest : one),
    null,
  );
}

function accepts({ request }: HttpCall, type: string): boolean {
  return request.headers.accept?.includes(type) === true;
}

/** Version 5 of `ai` refuses approvals and cannot be recognized, so clients with approvals send a header. */
function endOf({ request }: HttpCall): TurnPart['until'] {
  return request.headers[approvalsHeader] === 'true' ? 'permission' : 'end';
}

/** Leaves out the message of the running turn: a client gets it from the stream, from its beginning. */
function shownChat(call: HttpCall): Reply {
  const { messages = [], turns = [] } = chatOf(call)?.fold ?? {};
  const whole = turns.length > 0 && messages.at(-1)?.role === 'assistant' ? messages.slice(0, -1) : messages;
  const approvals = endOf(call) === 'permission';
  return { json: { messages: whole.map((message) => uiMessage(message, approvals)) } };
}

function resumed(call: HttpCall, until: TurnPart['until']): Reply {
  const session = chatOf(call);
  const turn = session && runningTurn(session.fold);
  if (!session || !turn) return { json: undefined };
  return streamed(call, session, { ...turn, after: 0, until });
}

function streamed(call: HttpCall, session: Session, part: TurnPart): Reply {
  return eventStream(followedTurn(session, part, call.signal), uiStreamHeaders);
}

async function posted(call: HttpCall): Promise<Reply> {
  const body = await readJson(call, chatRequest, call.limits.chatBytes);
  const session = await existing(call, body);
  try {
    const part = (await approved(call, session, body)) ?? (await prompted(session, body));
    if (accepts(call, 'text/event-stream') || !accepts(call, 'application/json'))
      return streamed(call, session, { ...part, until: endOf(call) });
    return { status: accepted, json: { completionId: part.turnId, status: 'started' } };
  } catch (error) {
    const completionId = session.fold.turns[0]?.turnId;
    if (!isFault(error, 'conflict') || completionId === undefined) throw error;
    return { status: conflict, json: { ...error.toJSON(), error: 'completion_in_progress', completionId } };
  }
}

async function existing(call: HttpCall, { id }: ChatRequest): Promise<Session> {
  const chat = call.params.id ?? id;
  return chatOf(call, chat ?? null) ?? call.sessions.create(chat === undefined ? {} : { sessionId: sessionIdOf(chat) });
}

/** A repeated request joins the turn that it started. Regenerating an answer or editing a message starts a new turn. */
async function prompted(
  session: Session,
  { messages, trigger, messageId }: ChatRequest,
): Promise<Omit<TurnPart, 'until'>> {
  const message = messages.findLast(({ role }) => role === 'user');
  if (message === undefined) throw new Fault('invalid', 'the request has no message with the role "user"');
  const isNew = trigger === 'regenerate-message' || messageId !== undefined || !turnPattern.test(message.id ?? '');
  const { turnId, seq } = await session.prompt({ turnId: isNew ? undefined : message.id, content: contentOf(message) });
  return { turnId, start: seq, after: 0 };
}

/** Passes on approvals, which a front end sends back in the message of the assistant. Null: the message has none. */
async function approved({ signal }: HttpCall, session: Session, { messages }: ChatRequest) {
  const last = messages.at(-1);
  const approvals = last?.role === 'assistant' ? last.parts.filter(isApproval) : [];
  for (const { approval } of approvals) {
    const question = session.fold.questions.find(({ pendingId }) => pendingId === approval.id);
    if (question)
      await session.answer(question.pendingId, { optionId: optionFor(question, approval.approved === true) });
  }
  const [newest] = approvals.slice(-1);
  return newest === undefined ? null : turnAfter(session, newest.approval.id, signal);
}

interface Approval {
  readonly approval: { readonly id: string; readonly approved?: unknown };
}

function isApproval(part: SentMessage['parts'][number]): part is SentMessage['parts'][number] & Approval {
  const { state, approval } = part as { state?: unknown; approval?: { id?: unknown } | null };
  return state === 'approval-responded' && typeof approval?.id === 'string';
}

/** Takes the first option of this kind: agents list "once" before "always". */
function optionFor({ options = [], pendingId }: Question, isAllowed: boolean): string {
  const kind = isAllowed ? 'allow' : 'reject';
  const option = options.find((one) => one.kind?.startsWith(kind)) ?? options.at(isAllowed ? 0 : -1);
  if (option) return option.id;
  throw new Fault('invalid', `the question ${pendingId} has no options`);
}

function status(session: Session | null): object {
  const turn = session && runningTurn(session.fold);
  const { failure = null, lastEnd = null } = session?.fold ?? {};
  const hasFailed = lastEnd?.stopReason === 'failed' || lastEnd?.stopReason === 'interrupted';
  return {
    isRunning: turn !== null,
    completionId: turn?.turnId ?? null,
    startedAt: turn?.at ?? null,
    error: failure ?? (hasFailed ? (lastEnd.reason ?? lastEnd.stopReason) : null),
  };
}

async function cancelled(session: Session | null): Promise<Reply> {
  const completionId = session?.fold.turns[0]?.turnId;
  if (completionId === undefined) return { status: conflict, json: { error: 'no_active_completion' } };
  await session!.cancel();
  return { json: { success: true, completionId, status: 'cancelled' } };
}

function question({ query }: HttpCall, session: Session | null): object {
  const [first] = session?.fold.questions ?? [];
  const wanted = query.get('toolUseID');
  if (wanted === null) return { question: first === undefined ? null : chatQuestion(first) };
  const found = session?.fold.questions.find(({ pendingId }) => pendingId === wanted);
  if (found) return { status: 'pending', question: chatQuestion(found) };
  const answer = session?.fold.answerTo(wanted) ?? null;
  return { status: answer === null || answer.cancelled ? 'expired' : 'answered', question: null };
}

async function answered(call: HttpCall): Promise<Reply> {
  const { toolUseID, answers } = await readJson(call, answersRequest);
  const session = chatOf(call);
  const found = session?.fold.questions.find(({ pendingId }) => pendingId === toolUseID);
  if (!session || !found) throw new Fault('not_found', `there is no open question ${toolUseID}`);
  await session.answer(toolUseID, answerOf(found, answers));
  return { json: { success: true } };
}
