/**
 * The hub over its port, beside the official filesystem server of MCP on stdio, and a server with nothing but the MCP
 * package.
 */
import { measureLoad } from './hub-load.ts';
import { openFilesystemServer, openPackageServer, type Peer } from './hub-peers.ts';
import { type HubPort, openHubPort, type Read } from './hub-port.ts';
import { processorMs } from './processor.ts';
import { atMost, type Row, row, timesPeer } from './report.ts';
import { elapsed, interleave, type Summary, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

const targetMs = 2;

export async function measureHub(bench: Bench): Promise<Row[]> {
  const hub = await openHubPort(bench.cleanup);
  return [...(await measureCalls(bench, hub)), ...(await measureLoad(bench, hub))];
}

interface Cost {
  readonly ms: number;
  /** Processor time of the server. */
  readonly processor: number;
}

async function measureCalls({ options, cleanup, signal }: Bench, hub: HubPort): Promise<Row[]> {
  const files = await openFilesystemServer(hub.folder, cleanup);
  const bare = await openPackageServer(hub.folder, cleanup);
  const ofDaemon = (call: Read) => () => costOf({ read: call, pid: hub.daemonPid });
  const taken = await interleave<'files' | 'bare' | 'socket' | 'http' | 'plain', Cost>(
    options.rounds * 10,
    {
      files: () => costOf(files),
      bare: () => costOf(bare),
      socket: ofDaemon(hub.socket),
      http: ofDaemon(hub.http),
      plain: ofDaemon(hub.plain),
    },
    signal,
  );
  const [filesystem, packaged] = [summaries(taken.files), summaries(taken.bare)];
  const peers = (own: Summary, index: 0 | 1, isClient: boolean) => [
    ...timesPeer(own, 'filesystem server', filesystem[index]),
    ...(isClient ? timesPeer(own, 'the MCP package', packaged[index]) : []),
  ];
  const rows = ([what, costs, isClient]: [string, Cost[], boolean]) => {
    const [ms, used] = summaries(costs);
    return [
      row(`hub read_file over ${what}`, ms, [atMost(ms, targetMs), ...peers(ms, 0, isClient)]),
      row('  processor time of the daemon', used, peers(used, 1, isClient)),
    ];
  };
  const ways: [string, Cost[], boolean][] = [
    ['WebSocket', taken.socket, false],
    ['HTTP, official client', taken.http, true],
    ['HTTP, plain request', taken.plain, false],
  ];
  return [
    row('filesystem server, read_text_file over stdio', filesystem[0]),
    row('  processor time of the server', filesystem[1]),
    row('a server of the MCP package alone, HTTP, official client', packaged[0]),
    row('  processor time of the server', packaged[1]),
    ...ways.flatMap(rows),
  ];
}

async function costOf({ read, pid }: Peer): Promise<Cost> {
  const before = processorMs(pid);
  const ms = await elapsed(read);
  return { ms, processor: processorMs(pid) - before };
}

function summaries(costs: readonly Cost[]): [Summary, Summary] {
  return [summarize(costs.map(({ ms }) => ms)), summarize(costs.map(({ processor }) => processor))];
}
