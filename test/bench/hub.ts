/** The hub over its port, beside the official filesystem server of MCP on stdio. All by the same client. */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { bearer, WebSocketTransport } from '../fixtures/mcp-port.ts';
import { Installation } from '../harness/installation.ts';
import { residentOf } from './memory.ts';
import { atMost, type Row, row, timesPeer } from './report.ts';
import { elapsed, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

const targetMs = 2;
const atOnce = 1000;
/** Memory is compared after this share of the calls: the first ones load programs and fill caches. */
const warmShare = 0.2;
const growthMb = 20;
const filesystemServer = resolve('test/clients/node_modules/.bin/mcp-server-filesystem');

type Read = () => Promise<unknown>;

export async function measureHub({ options, cleanup, signal }: Bench): Promise<Row[]> {
  const carrel = new Installation();
  cleanup.add('hub', () => carrel.dispose());
  const folder = carrel.folder('shop');
  writeFileSync(join(folder, 'file'), 'a line of text\n'.repeat(100));
  carrel.write('home/config.yaml', 'http: {port: 0, rate: 1000000}\n');
  await carrel.ok('project', 'add', folder);
  const token = (await carrel.ok('hub', 'token', '--project', 'shop')).trim();
  const { mcp } = await carrel.json<{ mcp: string }>('status');
  const requestInit = { headers: bearer(token) };
  const input = { project: 'shop', path: 'file' };
  const http = await open(new StreamableHTTPClientTransport(new URL(mcp), { requestInit }), 'read_file', input);
  const socket = await open(new WebSocketTransport(mcp, token), 'read_file', input);
  const stdio = new StdioClientTransport({
    command: process.execPath,
    args: [filesystemServer, folder],
    stderr: 'ignore',
  });
  const peer = await open(stdio, 'read_text_file', { path: join(folder, 'file') });
  try {
    return [
      ...(await times({ http: http.read, socket: socket.read, peer: peer.read }, options.rounds)),
      ...(await load(carrel, socket.read, options.calls, signal)),
    ];
  } finally {
    await Promise.all([http, socket, peer].map(({ client }) => client.close()));
  }
}

async function open(transport: Transport, name: string, input: object): Promise<{ client: Client; read: Read }> {
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(transport);
  const read = async () => {
    const result = await client.callTool({ name, arguments: { ...input } });
    if (result.isError) throw new Error(JSON.stringify(result.content));
  };
  await read();
  return { client, read };
}

/** In turns, so that noise hits all alike. */
async function times(reads: Readonly<Record<'http' | 'socket' | 'peer', Read>>, rounds: number): Promise<Row[]> {
  const taken = { http: [] as number[], socket: [] as number[], peer: [] as number[] };
  const names = Object.keys(taken) as (keyof typeof taken)[];
  for (let round = 0; round < rounds * 10; round += 1)
    for (const name of names) taken[name].push(await elapsed(reads[name]));
  const [http, socket, peer] = [summarize(taken.http), summarize(taken.socket), summarize(taken.peer)];
  const against = (one: typeof http) => [atMost(one, targetMs), ...timesPeer(one, 'filesystem server', peer)];
  return [
    row('filesystem server, read_text_file over stdio', peer),
    row('hub read_file over WebSocket', socket, against(socket)),
    row('hub read_file over HTTP', http, against(http)),
  ];
}

async function load(carrel: Installation, read: Read, calls: number, signal: AbortSignal): Promise<Row[]> {
  const burst = () => Promise.all(Array.from({ length: atOnce }, read));
  const bursts: number[] = [];
  const grown: number[] = [];
  let warmMb = Number.NaN;
  for (let done = 0; done < calls; done += atOnce) {
    signal.throwIfAborted();
    bursts.push(await elapsed(burst));
    const { rssMb } = residentOf(carrel.daemonPid);
    if (done >= calls * warmShare) grown.push(rssMb - warmMb);
    else warmMb = rssMb;
  }
  const last = grown.at(-1) ?? 0;
  const growth = { count: calls, min: Math.min(...grown), p50: last, p95: Math.max(...grown) };
  return [
    row(`hub: ${atOnce} read_file at once over WebSocket`, summarize(bursts)),
    { ...row(`hub: memory of the daemon grown over ${calls} calls`, growth, [atMost(growth, growthMb)]), unit: 'MB' },
  ];
}
