/** Calls to the daemon over a port on the loopback of this sandbox. */

import { request as httpRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { firstBytes } from '../../../lib/process/collect.ts';
import { Fault, type FaultBody, isFault } from '../../../model/fault.ts';
import type { DaemonRequest } from './inside.ts';

const maxAnswerBytes = 16 * 1024 ** 2;
const answerMs = 60_000;
/** Pauses between tries: a daemon that is restarted answers after some seconds. */
const pausesMs = [200, 500, 1000, 2000, 4000, 8000];

export async function callDaemon(address: string, request: DaemonRequest): Promise<object> {
  for (const pauseMs of pausesMs) {
    try {
      return await callOnce(address, request);
    } catch (error) {
      if (!isFault(error, 'unavailable') || (error.data?.isSent === true && !request.isRepeatable)) throw error;
      await pause(pauseMs);
    }
  }
  return callOnce(address, request);
}

async function callOnce(address: string, { method, path, body }: DaemonRequest): Promise<object> {
  const [host, port] = address.split(':');
  const text = body === undefined ? undefined : JSON.stringify(body);
  const { status, bytes } = await new Promise<{ status: number; bytes: Uint8Array }>((resolve, reject) => {
    const sent = httpRequest(
      { host, port: Number(port), method, path, signal: AbortSignal.timeout(answerMs) },
      (response) =>
        firstBytes(response, maxAnswerBytes).then(
          (read) => resolve({ status: response.statusCode ?? 0, bytes: read }),
          (error: unknown) => reject(lost(error, true)),
        ),
    );
    sent.on('error', (error: NodeJS.ErrnoException) => reject(lost(error, error.code !== 'ECONNREFUSED')));
    sent.end(text);
  });
  return answerIn(status, Buffer.from(bytes).toString('utf8'));
}

function answerIn(status: number, text: string): object {
  // The proxy answers 502 while no daemon runs. The daemon may have got the request before it went away.
  if (status === 502) throw lost(new Error('no daemon answers'), true);
  try {
    const value = JSON.parse(text) as object;
    if (status === 200) return value;
    throw Fault.from(value as FaultBody);
  } catch (error) {
    if (isFault(error)) throw error;
    throw new Fault('corrupt', `the memory answered with status ${status}, and the answer is not JSON`, {
      cause: error,
    });
  }
}

function lost(cause: unknown, isSent: boolean): Fault {
  const message = `the memory cannot be reached: ${(cause as Error).message}`;
  return new Fault('unavailable', message, {
    cause,
    hint: 'The daemon may not be running. On the host: carrel up -d',
    data: { isSent },
  });
}
