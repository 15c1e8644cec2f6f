/** A request as a route sees it. */
import type { IncomingMessage } from 'node:http';
import { readJsonText } from '../../../../lib/wire/bounded-json.ts';
import { Lines } from '../../../../lib/wire/lines.ts';
import { Fault } from '../../../../model/fault.ts';
import type { Shape } from '../../../../model/shape.ts';
import { sessionLimits } from '../../model/session.ts';
import type { ApiSettings } from '../../model/settings.ts';
import type { AgentSessions } from '../inside.ts';
import type { ApiLimits } from './limit.ts';
import { HttpRefusal, type Reply } from './reply.ts';

export interface HttpCall {
  readonly sessions: AgentSessions;
  readonly settings: ApiSettings;
  readonly limits: ApiLimits;
  readonly request: IncomingMessage;
  /** The parts of the path that the route names. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Aborted when the connection is gone. */
  readonly signal: AbortSignal;
}

export type Handler = (call: HttpCall) => Promise<Reply> | Reply;

const tooLarge = 413;

/** The body as JSON; an empty one is `{}`. */
export async function readJson<T>(
  { request, limits }: HttpCall,
  shape: Shape<T>,
  maxBytes = limits.bodyBytes,
): Promise<T> {
  const maxValues = Math.max(100_000, Math.floor(maxBytes / 100));
  const text = await readJsonText(bodyOf(request, maxBytes), maxBytes, maxValues);
  return shape(parsed(text!), []);
}

function parsed(text: string): unknown {
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Fault('invalid', `the body is not JSON: ${(error as Error).message}`);
  }
}

/** The body line by line. A line of the log has a limit, too. */
export async function* readLines({ request, limits }: HttpCall): AsyncIterable<string> {
  const lines = new Lines(sessionLimits.eventBytes + 1);
  const checked = (line: string) => {
    if (line.length > sessionLimits.eventBytes)
      throw tooManyBytes(`a line has more than ${sessionLimits.eventBytes} bytes`);
    return line;
  };
  for await (const chunk of bodyOf(request, limits.restoreBytes))
    for (const line of lines.push(chunk)) yield checked(line);
  for (const line of lines.end()) yield checked(line);
}

/** Leaves the connection open after a refusal, so that the client can read the answer. */
async function* bodyOf(request: IncomingMessage, maxBytes: number): AsyncIterable<Buffer> {
  const refusal = () => tooManyBytes(`the body has more than ${maxBytes} bytes`);
  if (Number(request.headers['content-length']) > maxBytes) throw refusal();
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length;
    if (bytes > maxBytes) throw refusal();
    yield chunk as Buffer;
  }
}

function tooManyBytes(message: string): HttpRefusal {
  return new HttpRefusal(new Fault('exhausted', message, { hint: 'Send less at once.' }), tooLarge);
}
