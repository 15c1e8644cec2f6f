/** Many calls of the hub: at once, and one after the other until a leak of memory would show. */
import { openInspector } from './daemon-memory.ts';
import type { HubPort, Read } from './hub-port.ts';
import { atMost, missing, type Row, row } from './report.ts';
import { elapsed, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

const atOnce = 1000;
/** Memory is compared after this share of the calls: the first ones load programs and fill caches. */
const warmShare = 0.1;
const growthMb = 20;
/** Limit for all calls together; a machine that is too slow makes fewer calls. */
const longestMs = 240_000;

export async function measureLoad({ options, signal, cleanup }: Bench, hub: HubPort): Promise<Row[]> {
  return [
    await measureBursts('WebSocket', hub.socket, signal),
    await measureBursts('HTTP', hub.http, signal),
    ...(await measureMemory(hub, options.calls, signal, cleanup)),
  ];
}

async function measureBursts(what: string, read: Read, signal: AbortSignal): Promise<Row> {
  const bursts: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    signal.throwIfAborted();
    bursts.push(await elapsed(() => burst(read)));
  }
  return row(`hub: ${atOnce} read_file at once over ${what}, none fails`, summarize(bursts));
}

function burst(read: Read): Promise<unknown> {
  return Promise.all(Array.from({ length: atOnce }, read));
}

async function measureMemory(
  { daemonPid, socket }: HubPort,
  calls: number,
  signal: AbortSignal,
  cleanup: Bench['cleanup'],
): Promise<Row[]> {
  const memory = await openInspector(daemonPid).catch((error: Error) => error);
  if (memory instanceof Error) return [missing('hub: memory of the daemon', memory.message)];
  cleanup.add('the inspector', async () => memory.close());
  await many(socket, calls * warmShare, signal);
  const warm = await memory.afterCollection();
  const made = await many(socket, calls * (1 - warmShare), signal);
  const end = await memory.afterCollection();
  const grown = (what: string, mb: number, checked: boolean): Row => {
    const summary = { count: made, min: mb, p50: mb, p95: mb };
    const checks = checked ? [atMost(summary, growthMb)] : [];
    return { ...row(`hub: ${what} of the daemon grown over ${made} calls`, summary, checks), unit: 'MB' };
  };
  return [
    grown('heap', end.heapMb - warm.heapMb, false),
    grown('resident memory', end.residentMb - warm.residentMb, true),
  ];
}

/** Returns the number of calls that were made in time. */
async function many(read: Read, calls: number, signal: AbortSignal): Promise<number> {
  const from = performance.now();
  let made = 0;
  while (made < calls && performance.now() - from < longestMs) {
    signal.throwIfAborted();
    await burst(read);
    made += atOnce;
  }
  return made;
}
