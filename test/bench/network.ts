/**
 * Requests through the proxy beside direct ones and ones through mitmproxy. Everything is on loopback, with the same
 * client, and over TLS unless stated otherwise; direct requests and those through mitmproxy run on the host, those
 * through the proxy in a sandbox.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { insidePorts } from '../../src/noun/network/network.ts';
import type { Cleanup } from './cleanup.ts';
import { onHost, type Place } from './inside.ts';
import { isInstalled } from './program.ts';
import { atMost, missing, type Row, row, timesPeer } from './report.ts';
import { interleave, type Summary, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

/** The host name, as rules refuse the name of loopback: inside, that is the sandbox itself. */
const name = hostname();
const downloadBytes = 512 * 1024 * 1024;
const megabytes = `${downloadBytes / 1024 ** 2} MiB`;
const streamCount = 500;
const startMs = 20_000;

type What = 'requests' | 'connections' | 'download' | 'upload' | 'events' | 'streams';
type Way = (what: What, count: number, plain?: boolean) => Promise<number[]>;

export async function measureNetwork(bench: Bench): Promise<Row[]> {
  const { options, cleanup, signal } = bench;
  const { address } = await lookup(name, { family: 4 });
  const ports = await openServer(cleanup, address);
  const rules = ports.flatMap((port) => [`${name}:${port}`, `${address}:${port}`]);
  const wayOf = wayTo(address, ports);
  const ways = {
    direct: wayOf(onHost('/'), null),
    carrel: wayOf(await bench.carrel.online(rules), insidePorts.proxy),
    mitmproxy: isInstalled('mitmdump') ? wayOf(onHost('/'), await openMitmproxy(cleanup)) : null,
  };
  const taken = async (what: What, count: number, rounds: number, plain = false) => {
    const measures = Object.fromEntries(
      Object.entries(ways).map(([way, ask]) => [way, ask && (() => ask(what, count, plain))]),
    ) as Record<keyof typeof ways, (() => Promise<number[]>) | null>;
    const found = await interleave<keyof typeof ways, number[]>(rounds, measures, signal);
    return (way: keyof typeof ways) => (found[way].length > 0 ? found[way].flat() : null);
  };
  const rounds = options.heavyRounds;
  const requests = await taken('requests', 300, rounds);
  const connections = await taken('connections', 200, rounds);
  const events = await taken('events', 50, rounds);
  const downloads = await taken('download', 1, rounds * 2);
  const uploads = await taken('upload', 1, rounds * 2);
  const plain = await taken('download', 1, rounds * 2, true);
  const streams = await taken('streams', streamCount, rounds);
  return [
    ...added('a request on an open connection', requests, 1),
    ...added('a new connection, before TLS', connections, 1),
    ...added('request → first server-sent event', events, 2),
    ...compared(`download of ${megabytes}`, downloads, 1 / 0.7),
    ...compared(`upload of ${megabytes}`, uploads, 1 / 0.7),
    ...compared(`download of ${megabytes}, plain HTTP`, plain, 1 / 0.7),
    ...compared(`${streamCount} streams of events at once, one second each`, streams, null),
  ];
}

type Taken = (way: 'direct' | 'carrel' | 'mitmproxy') => number[] | null;

/** The time that a proxy adds to a direct request. */
function added(what: string, taken: Taken, targetMs: number): Row[] {
  const direct = summarize(taken('direct')!);
  const more = (samples: number[]): Summary => summarize(samples.map((ms) => ms - direct.p50));
  const ours = more(taken('carrel')!);
  const theirs = taken('mitmproxy');
  return [
    row(`${what}, direct`, direct),
    row('  added by carrel', ours, [atMost(ours, targetMs)]),
    theirs ? row('  added by mitmproxy', more(theirs)) : missing('  added by mitmproxy'),
  ];
}

function compared(what: string, taken: Taken, target: number | null): Row[] {
  const direct = summarize(taken('direct')!);
  const ours = summarize(taken('carrel')!);
  const theirs = taken('mitmproxy');
  return [
    row(`${what}, direct`, direct),
    row('  through carrel', ours, timesPeer(ours, 'direct', direct, target)),
    theirs
      ? row('  through mitmproxy', summarize(theirs), timesPeer(summarize(theirs), 'direct', direct))
      : missing('  through mitmproxy'),
  ];
}

function wayTo(address: string, [port, plainPort]: Ports): (place: Place, proxyPort: number | null) => Way {
  const script = readFileSync('test/bench/network.py', 'utf8');
  return (place, proxyPort) =>
    async (what, count, plain = false) => {
      const proxy = proxyPort === null ? null : ['127.0.0.1', proxyPort];
      const server = { host: name, address, port: plain ? plainPort : port };
      const order = { what, count, plain, ...server, proxy, bytes: downloadBytes };
      return JSON.parse(await place(['/usr/bin/python3', '-c', script, JSON.stringify(order)])) as number[];
    };
}

/** The ports of the server with TLS and of the plain one. */
type Ports = readonly [number, number];

async function openServer(cleanup: Cleanup, address: string): Promise<Ports> {
  const file = resolve('dist/bench/test/bench/network-server.js');
  const child = spawn(process.execPath, [file, name, address], { stdio: ['pipe', 'pipe', 'inherit'] });
  cleanup.add('the server', () => end(child, () => child.stdin.end()));
  const [line] = await once(child.stdout, 'data');
  return JSON.parse(String(line)) as Ports;
}

async function openMitmproxy(cleanup: Cleanup): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-bench-'));
  cleanup.add('the folder of mitmproxy', async () => rmSync(folder, { recursive: true }));
  const port = await freePort();
  const settings = [`confdir=${folder}`, 'ssl_insecure=true', 'stream_large_bodies=1', 'connection_strategy=lazy'];
  const args = ['--quiet', '--listen-host', '127.0.0.1', '--listen-port', String(port)];
  const child = spawn('mitmdump', [...args, ...settings.flatMap((one) => ['--set', one])], { stdio: 'ignore' });
  cleanup.add('mitmproxy', () => end(child, () => void child.kill()));
  for (const deadline = Date.now() + startMs; !(await answers(port)); await sleep(50)) {
    if (Date.now() > deadline) throw new Error('mitmproxy does not start');
  }
  return port;
}

async function end(child: ChildProcess, ask: () => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  ask();
  await exited;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      settle(true);
    });
    socket.once('error', () => settle(false));
  });
}
