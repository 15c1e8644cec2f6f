/** Carrel as users run it: the built daemon of a new home, its API and its command. */
import { once } from 'node:events';
import { join } from 'node:path';
import { type Client, readFrames } from '../../src/client/client.ts';
import { decodeJson, encodeJson, type FrameType } from '../../src/lib/wire/stream.ts';
import { type Dockerd, image } from '../harness/dockerd.ts';
import { Installation } from '../harness/installation.ts';
import type { Cleanup } from './cleanup.ts';
import type { Place } from './inside.ts';
import { elapsed, type Timing } from './sample.ts';

/** Enough to keep both the daemon and the kernel busy. */
const concurrent = 8;

export class Carrel {
  readonly #installation: Installation;
  readonly #client: Client;
  /** Fields of every request for a sandbox. */
  readonly #engine: { engine?: 'docker'; image?: string };

  private constructor(dockerd: Dockerd | null) {
    this.#installation = new Installation(null, dockerd);
    this.#client = this.#installation.client;
    this.#engine = dockerd ? { engine: 'docker', image } : {};
  }

  /** Opens an installation with sandboxes on the embedded engine, or on this dockerd. */
  static async open(cleanup: Cleanup, dockerd: Dockerd | null = null): Promise<Carrel> {
    const carrel = new Carrel(dockerd);
    cleanup.add('carrel', () => carrel.#close());
    await carrel.#installation.ok('up', '--detach');
    return carrel;
  }

  get home(): string {
    return this.#installation.home;
  }

  get daemonPid(): number {
    return this.#installation.daemonPid;
  }

  /** Creates a sandbox whose command prints something, attaches, and reads until it ends. The removal is not timed. */
  async run(): Promise<Timing> {
    const from = performance.now();
    const body = { ...this.#engine, command: ['echo', 'ready'], console: true };
    const { name } = await this.#client.call('POST /v1/sandboxes', { body });
    const timing = await readTimed(await this.#client.upgrade('GET /v1/sandboxes/{name}/attach', { name }), from);
    await this.remove([name]);
    return timing;
  }

  async exec(name: string): Promise<Timing> {
    const from = performance.now();
    const socket = await this.#client.upgrade('POST /v1/sandboxes/{name}/exec', { name });
    socket.write(encodeJson('request', { command: ['echo', 'ready'] }));
    return readTimed(socket, from);
  }

  /** Times the whole command `carrel run -- true`. Its sandbox is removed later. */
  async command(): Promise<Timing> {
    const wholeMs = await elapsed(() => this.#installation.ok('run', '--', 'true'));
    return { firstMs: wholeMs, wholeMs };
  }

  get socket(): string {
    return join(this.#installation.home, 'carrel.sock');
  }

  async addProject(folder: string): Promise<string> {
    return (await this.#client.call('POST /v1/projects', { body: { folder } })).id;
  }

  async callTool(tool: string, input: Record<string, unknown>): Promise<Record<string, unknown>> {
    return this.#client.call('POST /v1/hub/call', { body: { tool, input } });
  }

  /** Stops the spoke; the next call of a tool starts it. */
  async stopSpoke(project: string): Promise<void> {
    await this.#installation.ok('stop', '--grace', '0', `hub-${project}`).catch(() => {});
  }

  listMs(): Promise<number> {
    return elapsed(() => this.#client.call('GET /v1/sandboxes'));
  }

  /** Creates an idle sandbox. */
  async idle(): Promise<string> {
    return (await this.#client.call('POST /v1/sandboxes', { body: this.#engine })).name;
  }

  /** Creates an idle sandbox on a project. */
  async idleOn(project: string): Promise<string> {
    const { name, state, workspace } = await this.#client.call('POST /v1/sandboxes', { body: { project } });
    if (state !== 'running') throw new Error(`${name} is ${state}`);
    if (workspace?.kind !== 'overlay') throw new Error(`${name} works on a ${workspace?.kind}, not on an overlay`);
    return name;
  }

  /** Creates a sandbox that may reach what these rules allow, as a place to run programs in. */
  async online(network: string[]): Promise<Place> {
    const { name } = await this.#client.call('POST /v1/sandboxes', { body: { ...this.#engine, network } });
    return (argv) => this.#output(name, argv);
  }

  /** The working copy of a sandbox, as a place to run programs in. */
  workspace(name: string): Place {
    return (argv) => this.#output(name, argv);
  }

  async #output(name: string, command: readonly string[]): Promise<string> {
    const socket = await this.#client.upgrade('POST /v1/sandboxes/{name}/exec', { name });
    socket.write(encodeJson('request', { command }));
    const printed: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
    for await (const frame of readFrames(socket)) {
      if (frame.type === 'stdout' || frame.type === 'stderr') printed[frame.type].push(frame.payload);
      if (frame.type !== 'exit') continue;
      const { exitCode: code } = decodeJson(frame) as { exitCode: number };
      if (code === 0) return Buffer.concat(printed.stdout).toString('utf8');
      throw new Error(`${command[0]} in ${name} exited with ${code}: ${Buffer.concat(printed.stderr)}`);
    }
    throw new Error(`the stream of ${command[0]} in ${name} ended without an exit`);
  }

  /** Returns the name of the fork. */
  async fork(name: string): Promise<string> {
    return (await this.#client.call('POST /v1/sandboxes/{name}/fork', { path: { name }, body: {} }))[0]!.name;
  }

  /** Returns the number of changes. */
  async changes(name: string): Promise<number> {
    return (await this.#client.call('POST /v1/sandboxes/{name}/changes', { path: { name }, body: {} })).changes.length;
  }

  /** Times the whole command `carrel diff`, whose output is discarded. */
  async diff(name: string): Promise<void> {
    const child = this.#installation.spawn(['diff', name]);
    child.stdin!.end();
    child.stdout!.resume();
    child.stderr!.resume();
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`carrel diff ${name} exited with ${code}`);
  }

  /** Applies all changes and returns how many there were. */
  async apply(name: string): Promise<number> {
    const { apply, blocked, paths } = await this.#client.call('POST /v1/apply', { body: { names: [name] } });
    if (apply === null) throw new Error(`nothing of ${name} was applied: ${blocked}`);
    return paths.length;
  }

  async applyToBranch(name: string, branch: string): Promise<void> {
    const view = await this.#client.call('POST /v1/apply', { body: { names: [name], branch } });
    if (view.branch === null) throw new Error(`nothing of ${name} was committed: ${view.blocked}`);
  }

  async undo(name: string): Promise<void> {
    await this.#client.call('POST /v1/sandboxes/{name}/undo', { path: { name } });
  }

  /** Creates idle sandboxes, all at once. */
  burst(count: number): Promise<string[]> {
    return Promise.all(Array.from({ length: count }, () => this.idle()));
  }

  /** Creates idle sandboxes, a few at a time. */
  async fill(count: number, signal: AbortSignal): Promise<string[]> {
    return some(Array.from({ length: count }), async () => {
      signal.throwIfAborted();
      return this.idle();
    });
  }

  async remove(names: readonly string[]): Promise<void> {
    await some(names, (name) =>
      this.#client.call('DELETE /v1/sandboxes/{name}', { path: { name }, query: { force: true } }),
    );
  }

  async removeAll(): Promise<void> {
    await this.remove((await this.#client.call('GET /v1/sandboxes')).map(({ name }) => name));
  }

  /** The folder with the content of a volume. */
  async volumeFolder(type: string): Promise<string> {
    const volumes = await this.#installation.json<{ name: string; type: string }[]>('volume', 'init');
    return join(this.home, 'volumes', volumes.find((volume) => volume.type === type)!.name);
  }

  /** Returns the path of the backup. */
  async backup(volume: string): Promise<string> {
    return (await this.#client.call('POST /v1/volumes/{name}/backup', { path: { name: volume } })).file;
  }

  async #close(): Promise<void> {
    try {
      await this.removeAll();
    } finally {
      await this.#installation.dispose();
    }
  }
}

async function readTimed(socket: Parameters<typeof readFrames>[0], from: number): Promise<Timing> {
  let firstMs: number | null = null;
  let last: FrameType | null = null;
  for await (const { type } of readFrames(socket)) {
    if (type === 'stdout') firstMs ??= performance.now() - from;
    last = type;
    if (type === 'exit') break;
  }
  if (firstMs === null || last !== 'exit') throw new Error(`the stream ended with ${last} and without output`);
  return { firstMs, wholeMs: performance.now() - from };
}

/** Returns the results in order, with a few calls under way at any time. After a failure no new call begins. */
async function some<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const work = async () => {
    while (next < items.length) {
      const index = next++;
      try {
        results[index] = await act(items[index]!);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: concurrent }, work));
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason;
  return results;
}
