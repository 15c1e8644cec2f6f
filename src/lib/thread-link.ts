/** A thread of the daemon that gets messages and answers with messages. */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { dist } from './package.ts';

export interface ThreadLink<To> {
  send(message: To): void;
  end(): Promise<unknown>;
}

export interface ThreadReceiver<From> {
  received(message: From): void;
  /** The thread failed, or ended although `end` was not called. */
  broken(error: unknown): void;
}

/**
 * Starts a thread that does not keep the process alive. `program`: below `dist`; `name`: for the error when it ends.
 */
export function startThread<To, From>(program: string, name: string, receiver: ThreadReceiver<From>): ThreadLink<To> {
  const worker = new Worker(join(dist, program), { trackUnmanagedFds: false });
  worker.unref();
  let isAsked = false;
  worker.on('message', (message: From) => receiver.received(message));
  worker.on('error', (error) => receiver.broken(error));
  worker.on('exit', () => isAsked || receiver.broken(new Error(`${name} ended`)));
  return {
    send: (message) => worker.postMessage(message),
    end: () => {
      isAsked = true;
      return worker.terminate();
    },
  };
}
