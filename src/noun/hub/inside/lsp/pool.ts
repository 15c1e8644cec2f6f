/** The running servers: started on demand, with limits on their number, their memory and how often one may end. */
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import { commandOf } from './command.ts';
import { languageOf } from './known.ts';
import type { ServerSpec } from './lsp.ts';
import { memoryByGroup, memoryForServers } from './memory.ts';
import { Server } from './server.ts';

export interface PoolLimits {
  readonly servers: number;
  readonly memoryBytes: number;
  /** Ends within the period, after which it is not started again until the period is over. */
  readonly ends: number;
  readonly periodMs: number;
}

export const poolLimits = (): PoolLimits => ({
  servers: 4,
  memoryBytes: memoryForServers(),
  ends: 3,
  periodMs: 60_000,
});

interface End {
  readonly at: number;
  readonly how: string;
}

export class Pool {
  readonly #root: string;
  readonly #limits: PoolLimits;
  /** The least recently used first. */
  readonly #running = new Map<string, Server>();
  readonly #ends = new Map<string, readonly End[]>();

  constructor(root: string, limits: PoolLimits) {
    this.#root = root;
    this.#limits = limits;
  }

  all(): Server[] {
    return [...this.#running.values()].filter((server) => !server.hasEnded);
  }

  /** The server for a file, the first of the specs that can be run. */
  serverFor(path: string, specs: readonly ServerSpec[]): Server {
    const candidates = specs.filter((spec) => languageOf(spec, path) !== null);
    const chosen = candidates.find((spec) => this.#isRunning(spec) || commandOf(spec) !== null);
    if (chosen === undefined) throw missing(path, candidates);
    const server = this.#isRunning(chosen) ? this.#running.get(chosen.name)! : this.#start(chosen);
    this.#running.delete(chosen.name);
    this.#running.set(chosen.name, server);
    return server;
  }

  #isRunning({ name }: ServerSpec): boolean {
    return this.#running.get(name)?.hasEnded === false;
  }

  #start(spec: ServerSpec): Server {
    const command = commandOf(spec);
    if (command === null) throw missing(spec.name, [spec]);
    this.#checkEnds(spec.name);
    this.#makeRoom();
    const more = spec.argumentsFor?.(this.#root) ?? [];
    const server = new Server(spec, [...command, ...more], this.#root);
    void server.ended.then((how) => this.#noteEnd(server, how));
    return server;
  }

  #checkEnds(name: string): void {
    const { ends: most, periodMs } = this.#limits;
    const recent = (this.#ends.get(name) ?? []).filter(({ at }) => performance.now() - at < periodMs);
    this.#ends.set(name, recent);
    if (recent.length < most) return;
    const how = printable(recent.at(-1)!.how, 1000);
    throw new Fault('unavailable', `the language server ${name} ended ${recent.length} times: ${how}`, {
      hint: `It is started again after ${Math.round(periodMs / 1000)} seconds.`,
    });
  }

  /** An end does not count if the pool itself stopped the server. */
  #noteEnd(server: Server, how: string): void {
    const { name } = server.spec;
    if (this.#running.get(name) !== server) return;
    this.#running.delete(name);
    this.#ends.set(name, [...(this.#ends.get(name) ?? []), { at: performance.now(), how }]);
  }

  #makeRoom(): void {
    const running = this.all();
    if (running.length < this.#limits.servers) return;
    const idle = running.find(({ busy }) => busy === 0);
    if (idle === undefined) {
      throw new Fault('exhausted', `all ${running.length} language servers are busy`, { hint: 'Try again later.' });
    }
    void this.stop(idle);
  }

  /** Stops idle servers, the least recently used first, while they use too much memory together. */
  limitMemory(): void {
    const groups = memoryByGroup();
    const used = this.all().map((server) => ({ server, bytes: groups.get(server.process.pid ?? 0) ?? 0 }));
    let total = used.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { server, bytes } of used) {
      if (total <= this.#limits.memoryBytes) return;
      if (server.busy > 0) continue;
      total -= bytes;
      void this.stop(server);
    }
  }

  async stop(server: Server): Promise<void> {
    if (this.#running.get(server.spec.name) === server) this.#running.delete(server.spec.name);
    await server.stop();
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.all().map((server) => this.stop(server)));
  }
}

function missing(path: string, candidates: readonly ServerSpec[]): Fault {
  const [first] = candidates;
  const shown = printable(path);
  if (first === undefined) {
    return new Fault('unsupported', `no language server is known for ${shown}`, {
      hint: 'Name one in config.yaml under hub.languageServers.',
    });
  }
  const names = candidates.map(({ name }) => name).join(' or ');
  return new Fault('unsupported', `there is no language server for ${shown}: ${names} is not in the sandbox`, {
    hint: `Install it: ${first.install}`,
  });
}
