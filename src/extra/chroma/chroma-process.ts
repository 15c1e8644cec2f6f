/** The Chroma server as a child of the broker: started, checked, and started again with longer waits. */
import { setTimeout as pause } from 'node:timers/promises';
import { Backoff } from '../../lib/flow/backoff.ts';
import { crashPoint } from '../../lib/flow/crash-point.ts';
import { asFault, Fault } from '../../model/fault.ts';
import type { ChromaStatus } from './chroma.ts';
import { ChromaUpstream } from './chroma-upstream.ts';
import { type ServerChild, type ServerCommand, startServer } from './server-child.ts';
import { checkFiles } from './server-files.ts';

export interface ServerOptions extends ServerCommand {
  readonly report: (status: ChromaStatus) => void;
  /** Called when the files were set aside, so that nothing cached about them is valid. */
  readonly emptied: () => void;
}

/** How often the server is checked, how long it may take to answer, and after how many misses in a row it is killed. */
export interface HeartbeatLimits {
  readonly everyMs: number;
  readonly answerMs: number;
  readonly misses: number;
}

/** What the process uses of the system. */
export interface ServerParts {
  readonly start: (command: ServerCommand) => ServerChild;
  readonly upstream: ChromaUpstream;
  readonly beat: HeartbeatLimits;
  readonly nowMs: () => number;
  /** Ends early when the signal is aborted. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<unknown>;
}

const usualBeat: HeartbeatLimits = { everyMs: 5000, answerMs: 5000, misses: 3 };
/** The time limit from the start of the server to its first answer. */
const startMs = 60_000;
const pollMs = 25;
/** How long a request waits for a server that is being started. */
const waitMs = 30_000;
const stopMs = 5000;

export class ChromaProcess {
  readonly #options: ServerOptions;
  readonly #parts: ServerParts;
  readonly #backoff = new Backoff();
  #child: ServerChild | null = null;
  #status: ChromaStatus = { state: 'starting', version: null, reason: null, setAside: [] };
  readonly #waiting = new Set<AbortController>();
  /** Ends a wait for the next start. */
  #halt = new AbortController();
  #isResting = false;
  #isDisposed = false;
  #running: Promise<void> = Promise.resolve();

  constructor(options: ServerOptions, parts: Partial<ServerParts> = {}) {
    this.#options = options;
    this.#parts = {
      start: startServer,
      upstream: new ChromaUpstream({ url: `http://127.0.0.1:${options.port}` }),
      beat: usualBeat,
      nowMs: () => performance.now(),
      pause: (ms, signal) => pause(ms, undefined, signal === undefined ? {} : { signal }).catch(() => {}),
      ...parts,
    };
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Resolves when the server answers; `unavailable` after a time-out. */
  async ready(): Promise<ChromaUpstream> {
    const { upstream, pause } = this.#parts;
    if (this.#isReady) return upstream;
    const isUp = new AbortController();
    this.#waiting.add(isUp);
    await pause(waitMs, isUp.signal);
    this.#waiting.delete(isUp);
    if (this.#isReady) return upstream;
    throw new Fault('unavailable', `the Chroma server is not ready${because(this.#status.reason)}`);
  }

  /** Stops the server. Its files are not in use when this resolves. */
  async rest(): Promise<void> {
    this.#isResting = true;
    this.#become({ state: 'resting', reason: null });
    await this.#stop();
    await this.#running;
  }

  goOn(): void {
    if (!this.#isResting || this.#isDisposed) return;
    this.#isResting = false;
    this.#halt = new AbortController();
    this.#backoff.succeeded();
    this.start();
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.#stop();
    await this.#running;
    this.#parts.upstream.close();
  }

  async #run(): Promise<void> {
    while (this.#isWanted) {
      try {
        const setAside = checkFiles(this.#options.data, this.#backoff.failures);
        if (setAside.isNew) this.#options.emptied();
        this.#become({ state: 'starting', setAside: setAside.folders });
        crashPoint('chroma:files-checked');
        await this.#serve();
      } catch (error) {
        if (!this.#isWanted) return;
        const { nowMs, pause } = this.#parts;
        this.#backoff.failed(nowMs());
        this.#become({ state: 'failed', reason: asFault(error).message });
        await pause(this.#backoff.waitMs(nowMs()), this.#halt.signal);
      }
    }
  }

  /** Runs the server until it ends, which is an error unless it was stopped. */
  async #serve(): Promise<void> {
    const child = this.#parts.start(this.#options);
    this.#child = child;
    const over = new AbortController();
    const ended = child.ended.then((lastWords) => {
      over.abort();
      return lastWords;
    });
    try {
      await Promise.race([this.#watch(over.signal), ended]);
    } finally {
      this.#child = null;
      child.kill('SIGKILL');
      await ended;
    }
    if (this.#isWanted) throw new Fault('unavailable', (await ended) ?? 'it ended');
  }

  /** Resolves when the server ended; rejects when it does not answer any more. */
  async #watch(over: AbortSignal): Promise<void> {
    const { beat, upstream, pause } = this.#parts;
    const version = await this.#firstAnswer(over);
    if (over.aborted) return;
    this.#become({ state: 'ready', version, reason: null });
    for (let misses = 0; !over.aborted; ) {
      await pause(beat.everyMs, over);
      if (over.aborted) return;
      const isAlive = await upstream.beat(AbortSignal.timeout(beat.answerMs)).then(
        () => true,
        () => false,
      );
      // The first answer does not reset the back-off: a server that ends soon after it would be restarted without
      // waits.
      if (isAlive) this.#backoff.succeeded();
      misses = isAlive ? 0 : misses + 1;
      if (misses >= beat.misses) throw new Fault('unavailable', 'it does not answer any more');
    }
  }

  async #firstAnswer(over: AbortSignal): Promise<string | null> {
    const { nowMs, upstream, pause } = this.#parts;
    const deadline = nowMs() + startMs;
    while (!over.aborted) {
      try {
        return await upstream.version();
      } catch (error) {
        if (nowMs() > deadline) throw error;
        await pause(pollMs, over);
      }
    }
    return null;
  }

  get #isReady(): boolean {
    return this.#status.state === 'ready';
  }

  get #isWanted(): boolean {
    return !this.#isResting && !this.#isDisposed;
  }

  async #stop(): Promise<void> {
    this.#halt.abort();
    const child = this.#child;
    if (child === null) return;
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), stopMs);
    await child.ended;
    clearTimeout(timer);
  }

  #become(change: Partial<ChromaStatus>): void {
    this.#status = { ...this.#status, ...change };
    this.#options.report(this.#status);
    if (this.#status.state !== 'ready') return;
    for (const isUp of this.#waiting) isUp.abort();
  }
}

function because(reason: string | null): string {
  return reason === null ? '' : `: ${reason}`;
}
