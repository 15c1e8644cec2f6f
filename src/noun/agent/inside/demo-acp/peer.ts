/** JSON-RPC, one message a line. Written here because the package of the protocol takes 200 ms to load. */
import type { Readable, Writable } from 'node:stream';
import { Lines } from '../../../../lib/wire/lines.ts';

const maxMessageBytes = 16 * 1024 ** 2;
/** The code of JSON-RPC for all other errors. */
const internalError = -32_603;
const methodNotFound = -32_601;

type Params = Readonly<Record<string, unknown>>;
type Handler = (params: Params) => unknown;

interface Incoming {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Params;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class DemoPeer {
  readonly #output: Writable;
  readonly #handlers: Readonly<Record<string, Handler>>;
  readonly #waiting = new Map<number | string, Waiting>();
  #lastId = 0;

  constructor(input: Readable, output: Writable, handlers: Readonly<Record<string, Handler>>) {
    this.#output = output;
    this.#handlers = handlers;
    const lines = new Lines(maxMessageBytes);
    input.on('data', (chunk: Buffer) => {
      for (const line of lines.push(chunk)) if (line !== '') void this.#receive(JSON.parse(line) as Incoming);
    });
    // The client is gone, so a running turn ends, too.
    input.on('end', () => process.exit(0));
  }

  /** Rejects when the signal aborts; a late answer is dropped. */
  request(method: string, params: Params, signal: AbortSignal): Promise<unknown> {
    const id = ++this.#lastId;
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    }).finally(() => this.#waiting.delete(id));
    void this.#send({ id, method, params });
    return answer;
  }

  update(sessionId: string, update: Params): Promise<void> {
    return this.#send({ method: 'session/update', params: { sessionId, update } });
  }

  async #receive({ id, method, params = {}, result, error }: Incoming): Promise<void> {
    if (method === undefined) {
      const waiting = this.#waiting.get(id!);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new Error(error.message));
      return;
    }
    const answer = await this.#handle(method, params);
    if (id !== undefined) await this.#send({ id, ...answer });
  }

  async #handle(method: string, params: Params): Promise<Params> {
    const handler = this.#handlers[method];
    if (!handler) return { error: { code: methodNotFound, message: `Method not found: ${method}` } };
    try {
      return { result: (await handler(params)) ?? {} };
    } catch (error) {
      return { error: { code: internalError, message: (error as Error).message } };
    }
  }

  /** Resolves when the pipe has room for more. */
  #send(message: Params): Promise<void> {
    if (this.#output.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)) return Promise.resolve();
    return new Promise((resolve) => this.#output.once('drain', resolve));
  }
}
