/** The port of a daemon with one project, and the ways to call a tool there. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { WebSocket } from 'ws';
import { bearer, WebSocketTransport } from '../fixtures/mcp-port.ts';
import { Installation } from '../harness/installation.ts';
import type { Cleanup } from './cleanup.ts';

export type Read = () => Promise<unknown>;

export interface HubPort {
  readonly daemonPid: number;
  /** The folder of the project. */
  readonly folder: string;
  /** `read_file` of a short file: by the official client over HTTP and over WebSocket, and by a plain HTTP request. */
  readonly http: Read;
  readonly socket: Read;
  readonly plain: Read;
}

const input = { project: 'shop', path: 'file' };
const revision = '2026-07-28';

export async function openHubPort(cleanup: Cleanup): Promise<HubPort> {
  const carrel = new Installation();
  cleanup.add('hub', () => carrel.dispose());
  const folder = carrel.folder('shop');
  writeFileSync(join(folder, 'file'), 'a line of text\n'.repeat(100));
  carrel.write('home/config.yaml', 'http: {port: 0, rate: 1000000}\n');
  await carrel.ok('project', 'add', folder);
  const token = (await carrel.ok('hub', 'token', '--project', 'shop')).trim();
  const { mcp } = await carrel.json<{ mcp: string }>('status');
  const byHttp = new StreamableHTTPClientTransport(new URL(mcp), { requestInit: { headers: bearer(token) } });
  return {
    daemonPid: carrel.daemonPid,
    folder,
    http: await openCall(byHttp, cleanup, 'read_file', input),
    socket: await openCall(new WebSocketTransport(mcp, token), cleanup, 'read_file', input),
    plain: plainCall(mcp, token, cleanup),
  };
}

/** Calls a tool of a server with the official client. */
export async function openCall(transport: Transport, cleanup: Cleanup, name: string, given: object): Promise<Read> {
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(transport);
  cleanup.add('an MCP client', () => client.close());
  const call = async () => {
    const result = await client.callTool({ name, arguments: { ...given } }, { timeout: 120_000 });
    if (result.isError) throw new Error(JSON.stringify(result.content));
    return result;
  };
  await call();
  return call;
}

/** Makes the message that the official client sends. */
function messageOf(id: number, name: string, given: object): string {
  const meta = { protocolVersion: revision, clientInfo: { name: 'bench', version: '1' }, clientCapabilities: {} };
  const _meta = Object.fromEntries(
    Object.entries(meta).map(([key, value]) => [`io.modelcontextprotocol/${key}`, value]),
  );
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: given, _meta } });
}

export type Tools = (name: string, given: object) => Promise<Record<string, unknown>>;

interface Answer {
  readonly id: number;
  readonly result?: { readonly isError?: boolean; readonly structuredContent: Record<string, unknown> };
}

/** Calls tools over WebSocket without the official client. */
export async function plainSocket(mcp: string, token: string, cleanup: Cleanup): Promise<Tools> {
  const socket = new WebSocket(mcp.replace(/^http/, 'ws'), 'mcp', { headers: bearer(token) });
  await once(socket, 'open');
  cleanup.add('a WebSocket', async () => socket.terminate());
  const waiting = new Map<number, (answer: Answer) => void>();
  socket.on('message', (data: Buffer) => {
    const answer = JSON.parse(data.toString()) as Answer;
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  let last = 0;
  return async (name, given) => {
    const id = ++last;
    const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve));
    socket.send(messageOf(id, name, given));
    const answer = await answered;
    if (!answer.result || answer.result.isError) throw new Error(JSON.stringify(answer));
    return answer.result.structuredContent;
  };
}

/** Sends what the official client sends, without that client and without fetch. */
function plainCall(mcp: string, token: string, cleanup: Cleanup): Read {
  const agent = new http.Agent({ keepAlive: true });
  cleanup.add('HTTP connections', async () => agent.destroy());
  const body = messageOf(1, 'read_file', input);
  const headers = {
    ...bearer(token),
    ...{ accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
    ...{ 'mcp-protocol-version': revision, 'mcp-method': 'tools/call', 'mcp-name': 'read_file' },
    'content-length': Buffer.byteLength(body),
  };
  return () =>
    new Promise((resolve, reject) => {
      const request = http.request(mcp, { method: 'POST', agent, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.once('end', () =>
          text.includes('a line of text') ? resolve(text) : reject(new Error(`${response.statusCode}: ${text}`)),
        );
      });
      request.once('error', reject);
      request.end(body);
    });
}
