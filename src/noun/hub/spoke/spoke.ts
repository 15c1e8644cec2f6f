/**
 * Calls to the program in the sandbox of a project, in lines of JSON. The sandbox is not trusted. The connection is
 * closed after a line that is too long, has too many values or is not a valid message, after more output than our
 * program would send, and after a long silence: while a call waits, the program gets pings. The next call starts a new
 * program.
 */
import type { Readable, Writable } from 'node:stream';
import { TokenCount } from '../../../lib/wire/bounded-json.ts';
import { Lines } from '../../../lib/wire/lines.ts';
import { Fault } from '../../../model/fault.ts';
import { maxAnswerBytes, type SpokeMethod, type SpokeMethods } from '../model/spoke.ts';
import { parseMessage, parseResult, type SpokeMessage } from './shape.ts';

export interface SpokeCallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Gets output of a command while it runs. */
  onOutput?(text: string): void;
}

interface Waiting {
  readonly method: SpokeMethod;
  resolve(result: never): void;
  reject(error: unknown): void;
  onOutput?(text: string): void;
  outputBytes: number;
}

export interface SpokeStreams {
  readonly stdin: Writable;
  readonly stdout: Readable;
}

const maxCalls = 4096;
/** Limits of the output of one call, and of the lines that belong to no call. Our program sends far less of both. */
const maxOutputBytes = 64 * 1024 * 1024;
const maxStrayBytes = 8 * 1024 * 1024;
const pingMs = 20_000;
/** Long enough for a sandbox that is paused while its files are copied. */
const maxSilenceMs = 180_000;

export class SpokeConnection {
  readonly #streams: SpokeStreams;
  readonly #where: string;
  readonly #endOf: () => Promise<string>;
  readonly #lines = new Lines(maxAnswerBytes);
  readonly #tokens = new TokenCount('lines');
  readonly #waiting = new Map<number, Waiting>();
  readonly #closed = new Set<(end: string) => void>();
  readonly #pings: NodeJS.Timeout;
  #isClosed = false;
  #end: string | null = null;
  #last = 0;
  #silentMs = 0;
  /** Bytes of the last line, which has not ended yet. */
  #lineBytes = 0;
  #strayBytes = 0;

  /** For errors: `where` the program runs, such as `project shop`, and `endOf`, which says how it ended. */
  constructor(streams: SpokeStreams, where: string, endOf = async () => 'its connection was closed') {
    this.#streams = streams;
    this.#where = where;
    this.#endOf = endOf;
    streams.stdin.on('error', () => this.close());
    streams.stdout.on('data', (chunk: Buffer) => this.#take(chunk));
    for (const event of ['close', 'end', 'error']) streams.stdout.once(event, () => void this.#finish());
    this.#pings = setInterval(() => this.#ping(), pingMs);
    this.#pings.unref();
  }

  /** Calls the listener once, when the connection has ended; immediately if it has ended already. */
  onClose(listener: (end: string) => void): void {
    if (this.#end === null) this.#closed.add(listener);
    else listener(this.#end);
  }

  call<M extends SpokeMethod>(
    method: M,
    request: SpokeMethods[M][0],
    { signal, onOutput }: SpokeCallOptions = {},
  ): Promise<SpokeMethods[M][1]> {
    if (this.#isClosed) throw this.#lost(this.#end);
    if (this.#waiting.size >= maxCalls) {
      throw new Fault('exhausted', `${this.#where} has ${maxCalls} calls that are not answered yet`, {
        hint: 'Try again when some of them have ended.',
      });
    }
    const id = ++this.#last;
    const cancel = () => this.#send({ cancel: id });
    signal?.addEventListener('abort', cancel, { once: true });
    const answered = new Promise<SpokeMethods[M][1]>((resolve, reject) => {
      this.#waiting.set(id, { method, resolve, reject, outputBytes: 0, ...(onOutput ? { onOutput } : {}) });
      this.#send({ id, method, asked: request });
      if (signal?.aborted) cancel();
    });
    return answered.finally(() => {
      this.#waiting.delete(id);
      signal?.removeEventListener('abort', cancel);
    });
  }

  #send(message: object): void {
    if (!this.#isClosed) this.#streams.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #ping(): void {
    if (this.#waiting.size === 0) return;
    this.#silentMs += pingMs;
    if (this.#silentMs > maxSilenceMs) this.close();
    else if (this.#waiting.size < maxCalls) this.call('spoke/ping', {}).catch(() => {});
  }

  #take(chunk: Buffer): void {
    this.#silentMs = 0;
    try {
      this.#tokens.push(chunk);
      this.#tokens.check();
      this.#checkLength(chunk);
      for (const line of this.#lines.push(chunk)) this.#settle(parseMessage(line), line.length);
    } catch {
      // The sender is not our program any more, ignoring what it sent.
      this.close();
    }
  }

  #checkLength(chunk: Buffer): void {
    const end = chunk.lastIndexOf(0x0a);
    this.#lineBytes = end < 0 ? this.#lineBytes + chunk.length : chunk.length - end - 1;
    if (this.#lineBytes > maxAnswerBytes) throw new Error('a line is too long');
  }

  #settle(message: SpokeMessage, bytes: number): void {
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined) {
      this.#strayBytes += bytes;
      if (this.#strayBytes > maxStrayBytes) throw new Error('too many lines belong to no call');
      return;
    }
    if (message.kind === 'output') this.#pass(waiting, message.output);
    else if (message.kind === 'fault') waiting.reject(Fault.from(message.fault));
    else waiting.resolve(parseResult(waiting.method, message.result) as never);
  }

  #pass(waiting: Waiting, output: string): void {
    waiting.outputBytes += output.length;
    if (waiting.outputBytes > maxOutputBytes) throw new Error('a call has too much output');
    waiting.onOutput?.(output);
  }

  async #finish(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#pings);
    const end = await this.#endOf();
    this.#end = end;
    for (const { reject } of this.#waiting.values()) reject(this.#lost(end));
    for (const listener of this.#closed) listener(end);
  }

  #lost(end: string | null): Fault {
    const why = end === null ? '' : ` (${end})`;
    return new Fault('unavailable', `the spoke of ${this.#where} ended during the call${why}`, {
      hint: 'Try again: the next call starts it.',
      data: { spokeEnded: true },
    });
  }

  close(): void {
    this.#streams.stdin.destroy();
    this.#streams.stdout.destroy();
    void this.#finish();
  }
}

export function isSpokeEnd({ data }: Fault): boolean {
  return data?.spokeEnded === true;
}
