/**
 * Calls to the program in the sandbox of a project, in lines of JSON. A line that is too long or not understood ends the connection: the
 * sandbox is not trusted, and its next call starts a program anew.
 */
import type { Readable, Writable } from 'node:stream';
import { Lines } from '../lib/lines.ts';
import { Fault } from '../model/fault.ts';
import { maxAnswerBytes, type SpokeMethod, type SpokeMethods } from '../model/spoke.ts';
import { parseMessage, parseResult, type SpokeMessage } from './spoke-shape.ts';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Gets output of a command while it runs. */
  onOutput?(text: string): void;
}

interface Waiting {
  readonly method: SpokeMethod;
  resolve(result: never): void;
  reject(error: unknown): void;
  onOutput?(text: string): void;
}

interface Streams {
  readonly stdin: Writable;
  readonly stdout: Readable;
}

const maxCalls = 1000;

export class SpokeConnection {
  readonly #streams: Streams;
  readonly #project: string;
  readonly #waiting = new Map<number, Waiting>();
  readonly closed: Promise<void>;
  #isClosed = false;
  #last = 0;

  constructor(streams: Streams, project: string) {
    this.#streams = streams;
    this.#project = project;
    const lines = new Lines(maxAnswerBytes);
    streams.stdin.on('error', () => this.close());
    streams.stdout.on('data', (chunk: Buffer) => this.#take(lines.push(chunk)));
    this.closed = new Promise((resolve) =>
      streams.stdout.once('close', resolve).once('end', resolve).once('error', resolve),
    );
    void this.closed.then(() => this.#end());
  }

  call<M extends SpokeMethod>(
    method: M,
    asked: SpokeMethods[M][0],
    { signal, onOutput }: CallOptions = {},
  ): Promise<SpokeMethods[M][1]> {
    if (this.#isClosed) throw this.#lost();
    if (this.#waiting.size >= maxCalls)
      throw new Fault('exhausted', `project ${this.#project} has ${maxCalls} calls to answer`);
    const id = ++this.#last;
    const cancel = () => this.#send({ cancel: id });
    signal?.addEventListener('abort', cancel, { once: true });
    const answered = new Promise<SpokeMethods[M][1]>((resolve, reject) => {
      this.#waiting.set(id, { method, resolve, reject, ...(onOutput ? { onOutput } : {}) });
      this.#send({ id, method, asked });
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

  #take(lines: readonly string[]): void {
    try {
      for (const line of lines) this.#settle(parseMessage(line));
    } catch {
      // What answers is not our program any more, ignoring what it says.
      this.close();
    }
  }

  /** An answer to a call that was given up is dropped. */
  #settle(message: SpokeMessage): void {
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined) return;
    if (message.kind === 'output') waiting.onOutput?.(message.output);
    else if (message.kind === 'fault') waiting.reject(Fault.from(message.fault));
    else waiting.resolve(parseResult(waiting.method, message.result) as never);
  }

  #end(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.values()) reject(this.#lost());
  }

  #lost(): Fault {
    return new Fault('unavailable', `the sandbox of project ${this.#project} ended during the call`, {
      hint: 'Try again.',
    });
  }

  close(): void {
    this.#end();
    this.#streams.stdin.destroy();
    this.#streams.stdout.destroy();
  }
}
