import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { Tool, ToolCall } from '../hub.ts';
import { serveStreams } from './streams.ts';

const nothing = z.object({});

function serve(run: (call: ToolCall) => Promise<object>) {
  const tool: Tool = {
    ...{ name: 'work', group: 'run', description: 'work', changes: false, destroys: false },
    ...{ input: nothing, output: nothing, run: (_input, _scope, call) => run(call) },
  };
  const [input, output] = [new PassThrough(), new PassThrough()];
  const call = (one: Tool, input: object, how: ToolCall) => one.run(input as never, undefined as never, how);
  const served = serveStreams({ version: '1', tools: [tool], call }, input, output).then(() => output.end());
  return { input, output, served };
}

function line(id: number, method: string, params: object = {}): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
}

const clientInfo = { name: 'test', version: '1' };
const open = line(0, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
const work = line(1, 'tools/call', { name: 'work', arguments: {} });

it('requests that are unanswered when the input ends are answered before the output ends', async () => {
  let finish = () => {};
  const { input, output, served } = serve(() => new Promise((resolve) => (finish = () => resolve({}))));
  input.end(`${open}${work}${line(2, 'ping')}`);
  const lines: { id: number }[] = [];
  output.on('data', (chunk: Buffer) => {
    for (const one of chunk.toString().trim().split('\n')) lines.push(JSON.parse(one));
    // The other requests are answered and the input has ended: only the call is left.
    if (lines.length === 2) finish();
  });
  await served;
  expect(lines.map(({ id }) => id).toSorted()).toEqual([0, 1, 2]);
});

it('an input without a request ends at once', async () => {
  const { input, output, served } = serve(async () => ({}));
  input.end();
  await served;
  expect(await text(output)).toBe('');
});

it('a client that goes away cancels its calls', async () => {
  const { input, output, served } = serve(({ signal }) => {
    const aborted = new Promise<object>((resolve) => signal.addEventListener('abort', () => resolve({})));
    setImmediate(() => input.destroy());
    return aborted;
  });
  output.resume();
  input.write(`${open}${work}`);
  await served;
});

it('a line with more values than may be parsed at once ends the connection', async () => {
  const { input, output, served } = serve(async () => ({}));
  output.resume();
  input.write(`${open}${'['.repeat(200_000)}\n`);
  await served;
});

it('many requests in one piece are answered before the output ends, and others run in between', async () => {
  const { input, output, served } = serve(async () => ({}));
  const pings = Array.from({ length: 1000 }, (_, n) => line(n + 1, 'ping')).join('');
  let turns = 0;
  const turning = setInterval(() => (turns += 1), 0);
  input.end(`${open}${pings}`);
  const answers = text(output);
  await served;
  clearInterval(turning);
  expect((await answers).trim().split('\n')).toHaveLength(1001);
  expect(turns).toBeGreaterThan(10);
});
