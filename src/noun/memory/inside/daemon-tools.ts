/** Tools of the daemon, for an MCP server inside a sandbox. The daemon has the list of tools, at a port on the loopback of the sandbox. */

import { request as httpRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Toolset } from '../../../inside/tool-server.ts';
import { firstBytes } from '../../../lib/process/collect.ts';
import { Fault, type FaultBody, isFault } from '../../../model/fault.ts';
import { memoryEnv } from '../model/memory.ts';
import type { DaemonRequest, DaemonTools } from './inside.ts';

const maxAnswerBytes = 16 * 1024 ** 2;
const answerMs = 60_000;
/** Pauses between tries: a daemon that is restarted answers after some seconds. */
const pausesMs = [200, 500, 1000, 2000, 4000, 8000];

export function daemonTools(tools: DaemonTools): Toolset {
  const { path } = tools;
  const address = process.env.CARREL_MEMORY ?? memoryEnv.CARREL_MEMORY;
  return {
    ...tools,
    // The daemon refuses the names of tools that it does not have.
    has: (name) => /^[a-z_]{1,40}$/.test(name),
    list: () => callDaemon(address, { method: 'GET', path, isRepeatable: true }),
    call: async (name, input) => {
      const isRepeatable = tools.isRepeatable(name);
      const body = tools.input?.(name, input) ?? input;
      return tools.result(await callDaemon(address, { method: 'POST', path: `${path}/${name}`, body, isRepeatable }));
    },
  };
}

async function callDaemon(address: string, request: DaemonRequest): Promise<object> {
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
