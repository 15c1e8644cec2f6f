/** Answers: JSON, frames, server-sent events. */
import type { ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context as HonoContext } from 'hono';
import { stream } from 'hono/streaming';
import { corkForTurn, endCorked } from '../../lib/wire/cork.ts';
import { jsonPieces } from '../../lib/wire/encoded-json.ts';
import { encodeJson } from '../../lib/wire/stream.ts';
import { asFault, Fault } from '../../model/fault.ts';
import type { OpenAct } from '../audit/audit.ts';
import { endWith, type Frames, type SseEvent } from './route.ts';

const pieceBytes = 256 * 1024;
const sentHeaders = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', connection: 'keep-alive' };

/** Large parts of an answer are already JSON, made in a thread; they are sent in pieces. */
export function json(context: HonoContext, answer: object): Response {
  const pieces = jsonPieces(answer);
  if (pieces === null) return context.json(answer);
  context.header('content-type', 'application/json');
  return stream(context, async (out) => {
    for (const piece of pieces)
      for (let at = 0; at < piece.length; at += pieceBytes) await out.write(piece.subarray(at, at + pieceBytes));
  });
}

interface Live {
  /** Ended when the stream is complete; null: the route has no audit act. */
  readonly openAct: OpenAct | null;
  /** Aborted when the client goes away. */
  readonly gone: AbortController;
}

export function streamed(
  context: HonoContext,
  kind: 'frames' | 'sse' | 'upgrade',
  answer: object,
  live: Live,
): Response {
  return kind === 'frames'
    ? frames(context, answer as Frames, live)
    : serverSent(context, answer as AsyncIterable<SseEvent>, live);
}

/** If an error occurs, it is sent as the last frame. */
function frames(context: HonoContext, produce: Frames, { openAct, gone }: Live): Response {
  context.header('content-type', 'application/octet-stream');
  return stream(context, async (out) => {
    out.onAbort(() => gone.abort());
    const write = async (frame: Buffer) => {
      if (out.aborted) throw new Fault('cancelled', 'the client disconnected');
      await out.write(frame);
    };
    try {
      const last = await produce(write);
      openAct?.end('ok');
      if (last !== undefined) await write(last);
    } catch (error) {
      if (openAct) endWith(openAct, error);
      await out.write(encodeJson('fault', asFault(error)));
    }
  });
}

/**
 * Writes to the connection directly: through web streams an event for hundreds of followers costs several times as
 * much.
 */
function serverSent(context: HonoContext, events: AsyncIterable<SseEvent>, { openAct, gone }: Live): Response {
  const { outgoing } = context.env as { readonly outgoing: ServerResponse };
  outgoing.once('close', () => gone.abort());
  outgoing.on('error', () => gone.abort());
  outgoing.writeHead(200, sentHeaders);
  outgoing.flushHeaders();
  void send(outgoing, events).then(
    () => openAct?.end('ok'),
    (error: unknown) => {
      if (openAct) endWith(openAct, error);
      // The client sees a broken connection and follows again.
      outgoing.destroy();
    },
  );
  return RESPONSE_ALREADY_SENT;
}

async function send(outgoing: ServerResponse, events: AsyncIterable<SseEvent>): Promise<void> {
  for await (const event of events) {
    if (outgoing.destroyed) return;
    corkForTurn(outgoing);
    if (!outgoing.write(sentText(event))) await roomIn(outgoing);
  }
  endCorked(outgoing);
}

function sentText({ id, event, data }: SseEvent): string {
  const lines = data.split('\n').map((line) => `data: ${line}\n`);
  return `${event === undefined ? '' : `event: ${event}\n`}${lines.join('')}${id === undefined ? '' : `id: ${id}\n`}\n`;
}

function roomIn(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    outgoing.once('drain', resolve);
    outgoing.once('close', resolve);
  });
}
