/** What runs in the thread that makes sockets inside: one order after another. */
import { parentPort } from 'node:worker_threads';
import { Threshold } from '../../lib/network-namespace.ts';
import type { Answer, Order } from './threshold.ts';

const threshold = new Threshold();

parentPort?.on('message', (order: Order) => parentPort?.postMessage(answer(order)));

function answer({ serial, act, process, port, family }: Order): Answer {
  try {
    const fd = act === 'listen' ? threshold.listen(process, port, backlog) : threshold.connect(process, port, family);
    return { serial, fd };
  } catch (error) {
    const { code = 'EIO', message } = error as NodeJS.ErrnoException;
    return { serial, error: { code, message } };
  }
}

/** What waits here while we do not accept; more than that is dropped by the kernel. */
const backlog = 128;
