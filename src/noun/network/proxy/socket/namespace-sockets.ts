/** Sockets inside sandboxes, created by a thread that does nothing else. */
import { stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { programFile } from '../../../../lib/file/package.ts';
import type { ProcessRef } from '../../../../lib/process/process.ts';
import { Fault } from '../../../../model/fault.ts';

export interface SocketOrder {
  readonly serial: number;
  readonly act: 'listen' | 'connect';
  readonly process: ProcessRef;
  readonly port: number;
  readonly family: 4 | 6;
}

export type SocketAnswer = { readonly serial: number } & (
  | { readonly fd: number }
  | { readonly error: { readonly code: string; readonly message: string } }
);

type Settle = (answer: SocketAnswer) => void;

export class NamespaceSockets {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Settle>();
  #serial = 0;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (answer: SocketAnswer) => this.#settle(answer));
  }

  /** `failed` is called when the thread has ended: no further socket can be made. */
  static async open(failed: () => void = () => process.exit(1)): Promise<NamespaceSockets> {
    // The threads of the pool look names up and belong to the network of the thread that first needs them. This call
    // makes it this thread.
    await stat('/');
    const worker = new Worker(programFile('namespace-thread'), { trackUnmanagedFds: false });
    const sockets = new NamespaceSockets(worker);
    worker.on('error', (error) => {
      process.stderr.write(`namespace thread: ${error.stack}\n`);
      sockets.#fail(error.message);
      failed();
    });
    return sockets;
  }

  listen(process: ProcessRef, port: number): Promise<number> {
    return this.#order({ act: 'listen', process, port, family: 4 });
  }

  connect(process: ProcessRef, port: number, family: 4 | 6): Promise<number> {
    return this.#order({ act: 'connect', process, port, family });
  }

  async #order(order: Omit<SocketOrder, 'serial'>): Promise<number> {
    this.#serial += 1;
    const serial = this.#serial;
    const answer = await new Promise<SocketAnswer>((resolve) => {
      this.#waiting.set(serial, resolve);
      this.#worker.postMessage({ serial, ...order } satisfies SocketOrder);
    });
    if ('fd' in answer) return answer.fd;
    throw socketFault(answer.error, order.port);
  }

  #fail(message: string): void {
    for (const [serial, settle] of this.#waiting) settle({ serial, error: { code: 'EIO', message } });
    this.#waiting.clear();
  }

  #settle(answer: SocketAnswer): void {
    this.#waiting.get(answer.serial)?.(answer);
    this.#waiting.delete(answer.serial);
  }
}

export function socketFault({ code, message }: { code: string; message: string }, port: number): Fault {
  if (code === 'ESRCH' || code === 'ENOENT') return new Fault('not_ready', 'the sandbox has ended');
  if (code === 'EADDRINUSE') return new Fault('conflict', `port ${port} is in use inside the sandbox`);
  if (code === 'EPERM' || code === 'EACCES') {
    return new Fault('unsupported', `the network of the sandbox cannot be entered (${message})`, {
      hint: 'The engine runs the sandbox under an account whose namespaces this daemon may not enter; use --engine local.',
    });
  }
  // ECONNRESET: the program ended between the connection and its acceptance.
  if (['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT'].includes(code))
    return new Fault('unavailable', `no program accepts connections at port ${port} of the sandbox`);
  return new Fault('internal', `cannot make a socket inside the sandbox: ${message}`);
}
