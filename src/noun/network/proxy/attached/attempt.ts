/**
 * One attempt of a sandbox to reach a host: decided once, recorded twice, and cut off when it is not allowed any more.
 */
import type { Socket } from 'node:net';
import { type Endpoint, endpointText } from '../../../../model/host.ts';
import type { RefusedAttempt } from '../../lookup.ts';
import type { ConnectionVia, EndedAttempt, RecordLine } from '../../record.ts';

export class Attempt {
  readonly id: string;
  readonly via: ConnectionVia;
  /** The requested endpoint; null until it is known. */
  endpoint: Endpoint | null = null;
  /** Closes the connections of the attempt. */
  cut: (() => void) | null = null;
  readonly #write: (line: RecordLine) => void;
  readonly #onEnd: (attempt: Attempt) => void;
  readonly #startedMs = performance.now();
  #sentBytes = 0;
  #receivedBytes = 0;
  #state: 'open' | 'allowed' | 'over' = 'open';

  constructor(id: string, via: ConnectionVia, write: (line: RecordLine) => void, onEnd: (attempt: Attempt) => void) {
    this.id = id;
    this.via = via;
    this.#write = write;
    this.#onEnd = onEnd;
  }

  /** The sockets that `cut` closes. */
  holds(...sockets: readonly Socket[]): void {
    this.cut = () => {
      for (const socket of sockets) socket.destroy();
    };
  }

  get isOver(): boolean {
    return this.#state === 'over';
  }

  count(bytes: number, way: 'sent' | 'received'): void {
    if (way === 'sent') this.#sentBytes += bytes;
    else this.#receivedBytes += bytes;
  }

  /** Records that the attempt is allowed. Throws if that fails: then the attempt must not go on. */
  allow(endpoint: Endpoint, rule: string, address: string): void {
    this.endpoint = endpoint;
    this.#write({
      at: new Date().toISOString(),
      attempt: this.id,
      via: this.via,
      asked: endpointText(endpoint),
      decision: 'allow',
      rule,
      address,
      refusal: null,
      reason: null,
    });
    this.#state = 'allowed';
  }

  /** Records the refusal; `text` is the request as it came. A failure after the attempt was allowed is no refusal. */
  refuse(text: string, { refusal, rule, message }: RefusedAttempt): void {
    const isRefusal = this.#state === 'open' || (this.#state === 'allowed' && refusal === 'server_name');
    if (!isRefusal) {
      this.end(message);
      return;
    }
    this.#note({
      ...this.#outcome(message),
      via: this.via,
      asked: this.endpoint ? endpointText(this.endpoint) : text,
      decision: 'refuse',
      rule,
      address: null,
      refusal,
    });
    this.#over();
  }

  end(reason: string | null = null): void {
    if (this.#state === 'over') return;
    if (this.#state === 'allowed') this.#note(this.#outcome(reason));
    this.#over();
  }

  #outcome(reason: string | null): EndedAttempt {
    return {
      at: new Date().toISOString(),
      attempt: this.id,
      sentBytes: this.#sentBytes,
      receivedBytes: this.#receivedBytes,
      durationMs: Math.round(performance.now() - this.#startedMs),
      reason,
    };
  }

  #over(): void {
    this.#state = 'over';
    this.#onEnd(this);
  }

  #note(line: RecordLine): void {
    try {
      this.#write(line);
    } catch {
      // The attempt has ended, recorded or not, ignoring.
    }
  }
}
