/** Answers: JSON, frames, server-sent events. */
import type { Context as HonoContext } from 'hono';
import { stream, streamSSE } from 'hono/streaming';
import { encodeJson } from '../api/stream.ts';
import { endWith, type Frames, type Sent } from '../app/route.ts';
import type { OpenAct } from '../audit/audit.ts';
import { jsonPieces } from '../lib/made-json.ts';
import { asFault, Fault } from '../model/fault.ts';

const pieceBytes = 256 * 1024;

/** Large parts were made JSON in a thread already; they are sent piece by piece. */
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
  /** Ended when the stream is complete; null: the request is no act. */
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
    : serverSent(context, answer as AsyncIterable<Sent>, live);
}

/** An error is the last frame. */
function frames(context: HonoContext, produce: Frames, { openAct, gone }: Live): Response {
  context.header('content-type', 'application/octet-stream');
  return stream(context, async (out) => {
    out.onAbort(() => gone.abort());
    const write = async (frame: Buffer) => {
      if (out.aborted) throw new Fault('cancelled', 'the client went away');
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

function serverSent(context: HonoContext, events: AsyncIterable<Sent>, { openAct, gone }: Live): Response {
  return streamSSE(context, async (out) => {
    out.onAbort(() => gone.abort());
    try {
      for await (const event of events) {
        if (out.aborted) break;
        await out.writeSSE(event);
      }
      openAct?.end('ok');
    } catch (error) {
      if (openAct) endWith(openAct, error);
      throw error;
    }
  });
}
