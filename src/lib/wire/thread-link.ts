/** A thread of the daemon that gets messages and answers with messages. */
import { Worker } from 'node:worker_threads';
import { programFile } from '../file/package.ts';

export interface ThreadLink<To> {
  send(message: To): void;
  end(): Promise<unknown>;
}

export interface ThreadReceiver<From> {
  received(message: From): void;
  /** The thread has ended although `end` was not called. Called once. */
  broken(error: unknown): void;
}

/**
 * Starts a thread that does not keep the process alive. `program`: its name in the build; `name`: for the error when it ends.
 */
export function startThread<To, From>(program: string, name: string, receiver: ThreadReceiver<From>): ThreadLink<To> {
  const worker = new Worker(programFile(program), { trackUnmanagedFds: false });
  worker.unref();
  let isAsked = false;
  let cause: unknown = new Error(`${name} ended`);
  worker.on('message', (message: From) => receiver.received(message));
  worker.on('error', (error) => {
    cause = error;
  });
  // Always the last event. A thread that follows an error must not start before this one has ended.
  worker.on('exit', () => isAsked || receiver.broken(cause));
  return {
    send: (message) => worker.postMessage(message),
    end: () => {
      isAsked = true;
      return worker.terminate();
    },
  };
}
