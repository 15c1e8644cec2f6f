/**
 * How long the daemon does not answer while one user works with a huge tree: the longest wait of small requests from
 * another thread.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { change } from './inside.ts';
import { atMost, type Row, row } from './report.ts';
import { summarize } from './sample.ts';
import type { Bench } from './sections.ts';

const promisedMs = 50;

/** A thread that sends requests in a loop, and reports the longest wait when it is told to end. */
const asking = `
const { request } = require('node:http');
const { parentPort, workerData } = require('node:worker_threads');
let longest = 0;
parentPort.once('message', () => { parentPort.postMessage(longest); process.exit(); });
const ask = () => {
  const from = performance.now();
  request(workerData, (answer) => answer.resume().on('end', () => {
    longest = Math.max(longest, performance.now() - from);
    setTimeout(ask, 2);
  })).end();
};
ask();
`;

export async function measureStall({ options, carrel, projects }: Bench): Promise<Row[]> {
  const { largeProject, manyChanges } = options;
  const name = await carrel.idleOn(await projects.project(largeProject));
  await change(carrel.workspace(name), 'change', manyChanges);
  const steps = {
    list: () => carrel.changes(name),
    apply: () => carrel.apply(name),
    undo: () => carrel.undo(name),
    remove: () => carrel.remove([name]),
  };
  const rows: Row[] = [];
  for (const [step, work] of Object.entries(steps)) {
    const longest = summarize([await longestWait(carrel.socket, work)]);
    rows.push(row(`longest wait of others, ${step} ${manyChanges} changes`, longest, [atMost(longest, promisedMs)]));
  }
  return rows;
}

async function longestWait(socketPath: string, work: () => Promise<unknown>): Promise<number> {
  const worker = new Worker(asking, { eval: true, workerData: { socketPath, path: '/health' } });
  await once(worker, 'online');
  await work();
  worker.postMessage('end');
  const [longest] = (await once(worker, 'message')) as [number];
  return longest;
}
