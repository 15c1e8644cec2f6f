/** Reports that a sandbox may have changed, while there are listeners. */
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '../../../../lib/flow/with-timeout.ts';
import { idIn, installationFilter } from '../naming.ts';
import type { Connection } from './connection.ts';

const firstRetryMs = 100;
const longestRetryMs = 5000;
const closeMs = 1000;
/** The engine sends the head of its answer before it begins to record events. */
const marginSeconds = 1;

interface EngineEvent {
  readonly Actor?: { readonly Attributes?: Readonly<Record<string, string>> };
}

export class Events {
  readonly #connection: Connection;
  readonly #installation: string;
  readonly #ids: () => Promise<readonly string[]>;
  readonly #listeners = new Set<(id: string) => void>();
  readonly #closing = new AbortController();
  #running: Promise<void> | null = null;
  #stream: IncomingMessage | null = null;
  #heard: Promise<void> = Promise.resolve();

  /** `ids` lists all sandboxes: after a gap it is unknown which of them changed. */
  constructor(connection: Connection, installation: string, ids: () => Promise<readonly string[]>) {
    this.#connection = connection;
    this.#installation = installation;
    this.#ids = ids;
  }

  listen(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    this.#running ??= this.#run();
    return () => void this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    this.#closing.abort();
    this.#stream?.destroy();
    // The time-out lets the daemon end although the engine does not answer.
    await withTimeout<unknown>(closeMs, Promise.all([this.#running, this.#heard]), () => null);
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    for (let waitMs = firstRetryMs; !signal.aborted; waitMs = Math.min(waitMs * 2, longestRetryMs)) {
      try {
        await this.#read();
        waitMs = firstRetryMs;
      } catch {
        // The engine cannot be reached; the next request to it reports that, ignoring.
      }
      await sleep(waitMs, undefined, { signal }).catch(() => {});
    }
  }

  async #read(): Promise<void> {
    const filters = JSON.stringify({ type: ['container'], ...installationFilter(this.#installation) });
    const since = String(Math.floor(Date.now() / 1000) - marginSeconds);
    this.#stream = await this.#connection.stream('/events', { filters, since });
    if (this.#closing.signal.aborted) this.#stream.destroy();
    this.#heard = this.#hintAll();
    let rest = '';
    for await (const chunk of this.#stream.setEncoding('utf8')) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#take(line);
    }
  }

  async #hintAll(): Promise<void> {
    const ids = await this.#ids().catch(() => []);
    for (const id of ids) this.#hint(id);
  }

  #take(line: string): void {
    if (line.trim() === '') return;
    const event = JSON.parse(line) as EngineEvent;
    const id = idIn(event.Actor?.Attributes);
    if (id !== null) this.#hint(id);
  }

  #hint(id: string): void {
    for (const listener of this.#listeners) listener(id);
  }
}
