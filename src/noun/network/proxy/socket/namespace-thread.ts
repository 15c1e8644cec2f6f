/** The thread that creates sockets inside sandboxes, one order after another. */
import { parentPort } from 'node:worker_threads';
import { NamespaceEntry } from '../../../../lib/sys/network-namespace.ts';
import type { SocketAnswer, SocketOrder } from './namespace-sockets.ts';

const entry = new NamespaceEntry();

parentPort?.on('message', (order: SocketOrder) => parentPort?.postMessage(answer(order)));

function answer({ serial, act, process, port, family }: SocketOrder): SocketAnswer {
  try {
    const fd = act === 'listen' ? entry.listen(process, port, backlog) : entry.connect(process, port, family);
    return { serial, fd };
  } catch (error) {
    const { code = 'EIO', message } = error as NodeJS.ErrnoException;
    return { serial, error: { code, message } };
  }
}

/** The number of connections that wait while the proxy does not accept; the kernel drops more. */
const backlog = 128;
