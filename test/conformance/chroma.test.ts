// @needs root
/** With the real server: one that the broker runs, and one that runs elsewhere. */
import { afterAll } from 'vitest';
import { ChromaBench, startElsewhere } from '../harness/chroma.ts';
import { chromaContract } from './chroma.ts';

const endings: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of endings) await end();
});

chromaContract('a server that the broker runs', async () => {
  const bench = new ChromaBench();
  await bench.start();
  return bench;
});

chromaContract('a server elsewhere', async () => {
  const { url, end } = await startElsewhere();
  endings.push(end);
  const bench = new ChromaBench({ kind: 'remote', url, headers: {} });
  await bench.start();
  return bench;
});
