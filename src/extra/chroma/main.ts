/**
 * Entry of the broker process. A daemon starts it, in a network namespace of its own if the server is to be its child, and sends orders to its
 * stdin; it ends when stdin does.
 */
import { constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { raiseLoopback } from '../../lib/sys/network-namespace.ts';
import { tryLock } from '../../lib/sys/sys.ts';
import { Lines } from '../../lib/wire/lines.ts';
import { asFault, Fault } from '../../model/fault.ts';
import { Broker } from './broker.ts';
import type { ChromaStatus, FromBroker, ServerPlan, ToBroker } from './chroma.ts';
import { ChromaProcess } from './chroma-process.ts';
import type { ChromaUpstream } from './chroma-upstream.ts';
import { type ChromaPlace, chromaPort } from './model.ts';
import { RemoteChroma } from './remote-chroma.ts';

/** The longest time that the daemon may take to answer. */
const askMs = 10_000;
const maxLine = 64 * 1024;
const lockMs = 20;

interface Server {
  ready(): Promise<ChromaUpstream>;
  rest(): Promise<void>;
  goOn(): void;
  dispose(): Promise<void>;
}

const waiting = new Map<string, (place: ChromaPlace | null) => void>();
let server: Server | null = null;

process.umask(0o077);
const broker = new Broker({ placeOf: ask, server: serverNow });

function send(message: FromBroker): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function serverNow(): Promise<ChromaUpstream> {
  if (server !== null) return server.ready();
  throw new Fault('unavailable', 'the Chroma server is being started');
}

/** `Broker` asks once at a time for each sandbox: its other requests wait for the same answer. */
function ask(sandbox: string): Promise<ChromaPlace | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Fault('unavailable', 'the daemon does not answer')), askMs);
    waiting.set(sandbox, (place) => {
      clearTimeout(timer);
      resolve(place);
    });
    send({ verb: 'ask', sandbox });
  });
}

async function handle(order: ToBroker): Promise<void> {
  if (order.verb === 'begin') return begin(order.socket, order.plan);
  if (order.verb === 'place') {
    waiting.get(order.sandbox)?.(order.place);
    waiting.delete(order.sandbox);
    return;
  }
  const error = await act(order).then(
    () => null,
    (failure: unknown) => asFault(failure).message,
  );
  send({ verb: 'done', serial: order.serial, error });
}

async function act(order: Extract<ToBroker, { serial: number }>): Promise<void> {
  if (order.verb === 'rest') return server?.rest();
  if (order.verb === 'go') {
    // The files may have been restored to an older state meanwhile.
    broker.forgetAll();
    return server?.goOn();
  }
  if (order.verb === 'erase') return erase(order.tenant);
  broker.release(order.sandbox, order.place);
  await (await serverNow()).dropDatabase(order.place);
}

/** A sandbox that uses one of the databases meanwhile creates it again. */
async function erase(tenant: string): Promise<void> {
  const upstream = await serverNow();
  try {
    for (const database of await upstream.databases(tenant)) await upstream.dropDatabase({ tenant, database });
  } finally {
    broker.forgetTenant(tenant);
  }
}

async function begin(socket: string, plan: ServerPlan): Promise<void> {
  await broker.listen(socket);
  const report = (status: ChromaStatus) => send({ verb: 'status', status });
  if (plan.kind === 'remote') {
    server = new RemoteChroma(plan, report);
    return;
  }
  raiseLoopback();
  // The lock is held until this process ends. An earlier broker and its server may still be shutting down.
  const lock = openSync(join(plan.folder, 'server.lock'), constants.O_RDWR | constants.O_CREAT, 0o600);
  while (!tryLock(lock)) await pause(lockMs);
  const started = new ChromaProcess({ ...plan, port: chromaPort, report, emptied: () => broker.forgetAll() });
  server = started;
  started.start();
}

async function end(): Promise<void> {
  broker.close();
  await server?.dispose();
  process.exit(0);
}

const lines = new Lines(maxLine);
process.stdin.on('data', (chunk: Buffer) => {
  for (const line of lines.push(chunk)) {
    void handle(JSON.parse(line) as ToBroker).catch((error: unknown) => {
      process.stderr.write(`${new Date().toISOString()} ${asFault(error).message}\n`);
      process.exit(1);
    });
  }
});
process.stdin.on('end', () => void end());
process.stdout.on('error', () => void end());
