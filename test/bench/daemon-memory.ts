/** The memory of a daemon without garbage: its inspector runs a garbage collection first. */
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';

export interface Memory {
  readonly heapMb: number;
  readonly residentMb: number;
}

export interface Inspector {
  afterCollection(): Promise<Memory>;
  close(): void;
}

const address = 'http://127.0.0.1:9229/json/list';
const openMs = 5000;
const mb = 1024 * 1024;

/** Fails if another process listens on the inspector's port. */
export async function openInspector(pid: number): Promise<Inspector> {
  process.kill(pid, 'SIGUSR1');
  const socket = new WebSocket(await urlOf());
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const call = callsOver(socket);
  const evaluate = async (expression: string) =>
    ((await call('Runtime.evaluate', { expression, returnByValue: true })) as { result: { value: unknown } }).result
      .value;
  if ((await evaluate('process.pid')) !== pid) throw new Error('another process uses the port of the inspector');
  return {
    afterCollection: async () => {
      await call('HeapProfiler.collectGarbage', {});
      const { heapUsed, rss } = (await evaluate('process.memoryUsage()')) as { heapUsed: number; rss: number };
      return { heapMb: heapUsed / mb, residentMb: rss / mb };
    },
    close: () => socket.close(),
  };
}

async function urlOf(): Promise<string> {
  for (const from = performance.now(); ; ) {
    const found = await fetch(address).then(
      (answer) => answer.json() as Promise<{ webSocketDebuggerUrl: string }[]>,
      () => null,
    );
    if (found?.[0]) return found[0].webSocketDebuggerUrl;
    if (performance.now() - from > openMs) throw new Error('the inspector of the daemon does not answer');
    await sleep(50);
  }
}

function callsOver(socket: WebSocket): (method: string, params: object) => Promise<unknown> {
  const waiting = new Map<number, (result: unknown) => void>();
  let last = 0;
  socket.on('message', (data: Buffer) => {
    const { id, result } = JSON.parse(data.toString()) as { id: number; result: unknown };
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  return (method, params) =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      socket.send(JSON.stringify({ id: last, method, params }));
    });
}
