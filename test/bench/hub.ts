/** The hub over its port, beside the official filesystem server of MCP on stdio. */
import { join, resolve } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { measureLoad } from './hub-load.ts';
import { type HubPort, openCall, openHubPort, type Read } from './hub-port.ts';
import { processorMs } from './processor.ts';
import { atMost, type Row, row, timesPeer } from './report.ts';
import { elapsed, interleave, type Summary, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

const targetMs = 2;
const filesystemServer = resolve('test/clients/node_modules/.bin/mcp-server-filesystem');

export async function measureHub(bench: Bench): Promise<Row[]> {
  const hub = await openHubPort(bench.cleanup);
  return [...(await measureCalls(bench, hub)), ...(await measureLoad(bench, hub))];
}

interface Cost {
  readonly ms: number;
  /** Of the server. */
  readonly processor: number;
}

async function measureCalls({ options, cleanup, signal }: Bench, hub: HubPort): Promise<Row[]> {
  const stdio = new StdioClientTransport({
    command: process.execPath,
    args: [filesystemServer, hub.folder],
    stderr: 'ignore',
  });
  const path = join(hub.folder, 'file');
  const read = await openCall(stdio, cleanup, 'read_text_file', { path });
  const ofDaemon = (call: Read) => () => costOf(call, hub.daemonPid);
  const taken = await interleave<'peer' | 'socket' | 'http' | 'plain', Cost>(
    options.rounds * 10,
    {
      peer: () => costOf(read, stdio.pid!),
      socket: ofDaemon(hub.socket),
      http: ofDaemon(hub.http),
      plain: ofDaemon(hub.plain),
    },
    signal,
  );
  const [peerMs, peerUsed] = summaries(taken.peer);
  const rows = ([what, costs]: [string, Cost[]]) => {
    const [ms, used] = summaries(costs);
    return [
      row(`hub read_file over ${what}`, ms, [atMost(ms, targetMs), ...timesPeer(ms, 'filesystem server', peerMs)]),
      row('  processor time of the daemon', used, timesPeer(used, 'filesystem server', peerUsed)),
    ];
  };
  const ways: [string, Cost[]][] = [
    ['WebSocket', taken.socket],
    ['HTTP, official client', taken.http],
    ['HTTP, plain request', taken.plain],
  ];
  return [
    row('filesystem server, read_text_file over stdio', peerMs),
    row('  processor time of the server', peerUsed),
    ...ways.flatMap(rows),
  ];
}

async function costOf(call: Read, pid: number): Promise<Cost> {
  const before = processorMs(pid);
  const ms = await elapsed(call);
  return { ms, processor: processorMs(pid) - before };
}

function summaries(costs: readonly Cost[]): [Summary, Summary] {
  return [summarize(costs.map(({ ms }) => ms)), summarize(costs.map(({ processor }) => processor))];
}
