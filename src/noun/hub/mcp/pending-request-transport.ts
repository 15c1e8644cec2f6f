/** A transport that knows which requests of the client are not answered yet. */
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/server';

/** Requests that stay open until the client ends them. */
const subscribing = 'subscriptions/listen';

export class PendingRequestTransport implements Transport {
  readonly #inner: Transport;
  readonly #pending = new Set<string | number>();
  /** Called after each answer and each cancellation. */
  readonly #onAnswer: () => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  onclose?: () => void;
  onerror?: (error: Error) => void;

  constructor(inner: Transport, onAnswer: () => void) {
    this.#inner = inner;
    this.#onAnswer = onAnswer;
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  async start(): Promise<void> {
    this.#inner.onmessage = (message, extra) => {
      this.#note(message);
      this.onmessage?.(message, extra);
    };
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => this.onerror?.(error);
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    await this.#inner.send(message, options);
    if (!('method' in message) && message.id !== undefined) this.#finish(message.id);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #note(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if ('id' in message && message.method !== subscribing) this.#pending.add(message.id);
    // The answer of a cancelled request is never sent.
    const cancelled = message.method === 'notifications/cancelled' ? message.params?.requestId : undefined;
    if (cancelled !== undefined) this.#finish(cancelled as string | number);
  }

  #finish(id: string | number): void {
    this.#pending.delete(id);
    this.#onAnswer();
  }
}
