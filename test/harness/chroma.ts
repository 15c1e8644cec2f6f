/** The broker of Chroma with the real server of test/clients, and the way of four sandboxes of two users to it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import http from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { BrokerProcess } from '../../src/extra/chroma/broker-process.ts';
import type { ServerPlan } from '../../src/extra/chroma/chroma.ts';
import type { ChromaPlace } from '../../src/extra/chroma/model.ts';
import { chromaProgram, packageFolderName } from '../../src/noun/memory/model/package.ts';
import { callerHeader } from '../../src/noun/network/model/service.ts';
import { isServed, until } from './installation.ts';

export const chromaClients = resolve('test/clients');

/** Two sandboxes of ann on the same project, one of them only reads; a third one alone; and one of bob. */
export const places: Readonly<Record<string, ChromaPlace>> = {
  ann1: { tenant: 'carrel-ann', database: 'project-1', readonly: false },
  ann2: { tenant: 'carrel-ann', database: 'project-1', readonly: true },
  ann3: { tenant: 'carrel-ann', database: 'sandbox-ann3', readonly: false },
  bob1: { tenant: 'carrel-bob', database: 'project-1', readonly: false },
};

export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of another program.
  readonly body: any;
}

export interface Sent {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Begun {
  readonly request: http.ClientRequest;
  readonly reply: Promise<Reply>;
}

async function replyOf(response: http.IncomingMessage): Promise<Reply> {
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode!, body: text === '' ? null : JSON.parse(text) };
}

export class ChromaBench {
  readonly folder = mkdtempSync(join(tmpdir(), 'carrel-chroma-'));
  readonly data: string;
  readonly broker: BrokerProcess;
  readonly #agent = new http.Agent({ keepAlive: true });
  readonly #fronts: http.Server[] = [];

  /** `plan`: a server to use instead of a local one. */
  constructor(plan?: ServerPlan, data?: string) {
    this.data = data ?? join(this.folder, 'data');
    mkdirSync(this.data, { recursive: true });
    const local = { kind: 'local', program: join(chromaClients, chromaProgram), data: this.data, folder: this.folder };
    this.broker = new BrokerProcess({
      folder: this.folder,
      socket: join(this.folder, 'chroma.sock'),
      plan: () => plan ?? (local as ServerPlan),
      placeOf: (sandbox) => places[sandbox] ?? null,
    });
  }

  async start(): Promise<void> {
    this.broker.start();
    await this.ready();
  }

  ready(): Promise<void> {
    return until(async () => this.broker.status().state === 'ready', 'the Chroma server').then(() => {});
  }

  async dispose(): Promise<void> {
    for (const front of this.#fronts) front.close().closeAllConnections();
    this.#agent.destroy();
    await this.broker.dispose();
    rmSync(this.folder, { recursive: true });
  }

  /** Sends a request as the proxy does for a sandbox. The target is sent unchanged. */
  send(sandbox: string | null, target: string, { method, body, headers = {} }: Sent = {}): Promise<Reply> {
    const bytes = body === undefined ? null : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    const length = bytes === null ? {} : { 'content-length': String(bytes.length) };
    const verb = method ?? (bytes === null ? 'GET' : 'POST');
    const { request, reply } = this.#request(sandbox, target, verb, { ...headers, ...length });
    request.end(bytes ?? undefined);
    return reply;
  }

  /** Begins a request by sending its head; the caller sends the body. */
  begin(sandbox: string, target: string, bodyBytes: number): Begun {
    const begun = this.#request(sandbox, target, 'POST', { 'content-length': String(bodyBytes) });
    begun.request.flushHeaders();
    return begun;
  }

  #request(sandbox: string | null, path: string, method: string, headers: Readonly<Record<string, string>>): Begun {
    const caller = sandbox === null ? {} : { [callerHeader]: JSON.stringify({ id: sandbox }) };
    const socketPath = join(this.folder, 'chroma.sock');
    const request = http.request({ socketPath, path, method, agent: this.#agent, headers: { ...caller, ...headers } });
    const reply = new Promise<Reply>((resolved, rejected) => {
      request.on('error', rejected);
      request.on('response', (response) => replyOf(response).then(resolved, rejected));
    });
    return { request, reply };
  }

  /** Opens a port for a client that knows nothing of sandboxes. */
  async front(sandbox: string): Promise<number> {
    const front = http.createServer((request, response) => {
      const passed = http.request({
        socketPath: join(this.folder, 'chroma.sock'),
        path: request.url,
        method: request.method,
        headers: { ...request.headers, [callerHeader]: JSON.stringify({ id: sandbox }) },
      });
      passed.on('error', () => response.destroy());
      passed.on('response', (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      request.pipe(passed);
    });
    this.#fronts.push(front);
    front.listen(0, '127.0.0.1');
    await once(front, 'listening');
    return (front.address() as AddressInfo).port;
  }

  /** The broker, and the server below it. */
  pids(): { readonly broker: number; readonly server: number } {
    const broker = childrenOf(process.pid).find((pid) => commandOf(pid).includes('program/chroma-broker.js'));
    const server = childrenOf(broker ?? 0).find((pid) => commandOf(pid).includes('cli.mjs'));
    if (broker === undefined || server === undefined) throw new Error('the broker or its server does not run');
    return { broker, server };
  }
}

export interface Elsewhere {
  readonly url: string;
  end(): Promise<void>;
}

/** A server without a broker, at a port of this machine. */
export async function startElsewhere(): Promise<Elsewhere> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const data = mkdtempSync(join(tmpdir(), 'carrel-elsewhere-'));
  const args = ['run', '--path', data, '--host', '127.0.0.1', '--port', String(port)];
  const server = spawn(process.execPath, [join(chromaClients, chromaProgram), ...args], { stdio: 'ignore' });
  await until(() => isServed(`${url}/api/v2/heartbeat`), 'a Chroma server');
  const end = async () => {
    server.kill('SIGKILL');
    await once(server, 'exit');
    rmSync(data, { recursive: true });
  };
  return { url, end };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Links the packages, so that an installation finds the server without fetching it. */
export function provideChroma(home: string): void {
  provide(home, packageFolderName('chroma'));
}

export function provideEmbeddings(home: string): void {
  provide(home, packageFolderName('embeddings'));
}

function provide(home: string, name: string): void {
  const folder = join(home, 'packages', name);
  mkdirSync(folder, { recursive: true });
  symlinkSync(join(chromaClients, 'node_modules'), join(folder, 'node_modules'));
}

export function childrenOf(pid: number): number[] {
  const path = `/proc/${pid}/task`;
  if (!existsSync(path)) return [];
  return readFileSync(`${path}/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
