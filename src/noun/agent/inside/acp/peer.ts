/**
 * JSON-RPC in lines with an agent. The next message is read only after the previous one was handled (back-pressure), so
 * an agent cannot send faster than its events are stored. Sizes and open requests are limited. Lines that are not JSON
 * are skipped, because some agents print them.
 */
import type { Readable, Writable } from 'node:stream';
import { TokenCount } from '../../../../lib/wire/bounded-json.ts';

const maxMessageBytes = 16 * 1024 ** 2;
const maxUnsentBytes = 8 * 1024 ** 2;
const maxHandled = 200;
const newline = 0x0a;

const codes = { methodNotFound: -32_601, internal: -32_603 } as const;

export interface PeerHandlers {
  /** Resolves when the next message may be read; when it rejects, the connection ends with that error. */
  notified(method: string, params: unknown): Promise<void>;
  /** Null: there is no such method. */
  requested(method: string, params: unknown): Promise<unknown> | null;
}

/** The agent's process ended, or broke the protocol or a limit. */
export class AgentLost extends Error {
  override readonly name = 'AgentLost';
  /** True: the agent did not get the request. */
  readonly isUnsent: boolean;

  constructor(message: string, isUnsent = false) {
    super(message);
    this.isUnsent = isUnsent;
  }
}

/** The agent answered with an error. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

interface Message {
  readonly id?: number | string | null;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown };
}

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly written: Promise<boolean>;
}

export class AcpPeer {
  /** Resolves when the agent's output ended, or when it broke the protocol or a limit, with the reason. */
  readonly closed: Promise<Error | null>;
  readonly #output: Writable;
  readonly #handlers: PeerHandlers;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #handled = 0;
  #isClosed = false;

  constructor(input: Readable, output: Writable, handlers: PeerHandlers) {
    this.#output = output;
    this.#handlers = handlers;
    this.closed = this.#readAll(input);
  }

  request(method: string, params: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const unsent = () => reject(new AgentLost('the agent ended', true));
      if (this.#isClosed || !this.#output.writable) return unsent();
      const id = this.#nextId++;
      const written = new Promise<boolean>((done) => {
        this.#send({ id, method, params }, (error) => done(!error));
      });
      this.#pending.set(id, { resolve, reject, written });
      // After a failed write the agent has at most a part of the line.
      void written.then((isWritten) => isWritten || unsent());
    });
  }

  notify(method: string, params: object): void {
    this.#send({ method, params });
  }

  #send(message: object, written?: (error?: Error | null) => void): void {
    if (this.#output.writable) this.#output.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`, written);
  }

  async #readAll(input: Readable): Promise<Error | null> {
    let failure: Error | null = null;
    try {
      for await (const line of linesOf(input)) await this.#take(line);
    } catch (error) {
      failure = error as Error;
    }
    this.#isClosed = true;
    const lost = (isWritten: boolean) => failure ?? new AgentLost('the agent ended', !isWritten);
    for (const { reject, written } of this.#pending.values()) void written.then((isWritten) => reject(lost(isWritten)));
    this.#pending.clear();
    input.resume();
    return failure;
  }

  async #take(line: Buffer): Promise<void> {
    const message = parse(line);
    if (message === null) return;
    if (typeof message.method !== 'string') this.#settle(message);
    else if (message.id === undefined) await this.#handlers.notified(message.method, message.params);
    else this.#handle(message.id, message.method, message.params);
    if (this.#output.writableLength > maxUnsentBytes) await drained(this.#output);
  }

  #settle({ id, result, error }: Message): void {
    const pending = this.#pending.get(id as number);
    this.#pending.delete(id as number);
    if (error) pending?.reject(rpcError(error));
    else pending?.resolve(result);
  }

  #handle(id: Message['id'], method: string, params: unknown): void {
    const handling = this.#handled < maxHandled ? this.#handlers.requested(method, params) : tooMany();
    if (handling === null) {
      this.#send({ id, error: { code: codes.methodNotFound, message: `there is no method ${method.slice(0, 100)}` } });
      return;
    }
    this.#handled += 1;
    handling
      .then(
        (result) => this.#send({ id, result }),
        ({ message }: Error) => this.#send({ id, error: { code: codes.internal, message } }),
      )
      .finally(() => {
        this.#handled -= 1;
      });
  }
}

function tooMany(): Promise<never> {
  return Promise.reject(new Error('too many requests are open'));
}

async function* linesOf(input: Readable): AsyncGenerator<Buffer> {
  const begun = new BegunLine();
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      yield begun.end(chunk.subarray(start, end));
      start = end + 1;
    }
    begun.push(chunk.subarray(start));
  }
  if (begun.length > 0) yield begun.end(Buffer.alloc(0));
}

/** A line whose end has not arrived. Its bytes are copied, because an agent may send them one by one, each in a chunk of its own. */
class BegunLine {
  #bytes = Buffer.alloc(0);
  length = 0;

  push(part: Buffer): void {
    const length = this.length + part.length;
    if (length > maxMessageBytes) throw new AgentLost(`the agent sent a message of more than ${maxMessageBytes} bytes`);
    if (length > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.min(maxMessageBytes, 2 * length));
      this.#bytes.copy(grown, 0, 0, this.length);
      this.#bytes = grown;
    }
    part.copy(this.#bytes, this.length);
    this.length = length;
  }

  end(last: Buffer): Buffer {
    if (this.length === 0) return last;
    this.push(last);
    const whole = this.#bytes.subarray(0, this.length);
    this.#bytes = Buffer.alloc(0);
    this.length = 0;
    return whole;
  }
}

function parse(line: Buffer): Message | null {
  const tokens = new TokenCount('text');
  tokens.push(line);
  if (tokens.refusal !== null) throw new AgentLost(`the agent sent a message that is too large: ${tokens.refusal}`);
  try {
    const message: unknown = JSON.parse(line.toString());
    return typeof message === 'object' && message !== null ? message : null;
  } catch {
    return null;
  }
}

function rpcError({ code, message, data }: NonNullable<Message['error']>): RpcError {
  const details = (data as { details?: unknown } | null | undefined)?.details;
  const words = typeof message === 'string' ? message : 'the agent answered with an error';
  return new RpcError(Number(code), typeof details === 'string' ? `${words}: ${details}` : words);
}

function drained(output: Writable): Promise<void> {
  return new Promise((resolve) => {
    output.once('drain', resolve);
    output.once('close', resolve);
  });
}
