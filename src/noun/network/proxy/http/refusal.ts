/** Refusals as HTTP responses. */
import { type ServerResponse, STATUS_CODES } from 'node:http';
import { headText } from '../../../../lib/wire/http-headers.ts';
import { RefusedAttempt } from '../../lookup.ts';

export function refusedBy(error: unknown): RefusedAttempt {
  return error instanceof RefusedAttempt
    ? error
    : new RefusedAttempt('unreachable', `it failed (${(error as Error).message})`);
}

const statuses: Partial<Record<RefusedAttempt['refusal'], number>> = {
  bad_request: 400,
  limit: 429,
  timeout: 504,
  unreachable: 502,
  unknown_name: 502,
};

export function refuse(response: ServerResponse, refused: RefusedAttempt): void {
  const { status, headers, body } = answerOf(refused);
  response.writeHead(status, headers).end(body);
}

/** Like `refuse`, as text for a bare socket. */
export function refusalText(refused: RefusedAttempt): string {
  const { status, headers, body } = answerOf(refused);
  return `${headText(status, STATUS_CODES[status]!, headers)}${body}`;
}

function answerOf({ refusal, message }: RefusedAttempt) {
  const body = `carrel: ${message}\n`;
  const length = String(Buffer.byteLength(body));
  const headers = ['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', length, 'Connection', 'close'];
  return { status: statuses[refusal] ?? 403, headers, body };
}
