/**
 * The time that the broker adds to a query of the real Chroma server: the same query to the server and through the
 * broker, in turn.
 */
import http from 'node:http';
import { ChromaBench, startElsewhere } from '../harness/chroma.ts';
import { atMost, type Row, row } from './report.ts';
import { elapsed, interleave, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

const target = { overheadMs: 1 };
const records = 1000;
const dimensions = 384;
const base = '/api/v2/tenants/carrel-ann/databases/project-1/collections';

export async function measureBroker({
  options,
  cleanup,
  signal,
}: Pick<Bench, 'options' | 'cleanup' | 'signal'>): Promise<Row[]> {
  const server = await startElsewhere();
  cleanup.add('a Chroma server', () => server.end());
  const bench = new ChromaBench({ kind: 'remote', url: server.url, headers: {} });
  cleanup.add('the broker of Chroma', () => bench.dispose());
  await bench.start();
  const { body } = await bench.send('ann1', base, { body: { name: 'bench' } });
  await bench.send('ann1', `${base}/${body.id}/add`, { body: manyRecords() });
  const query = { query_embeddings: [values()], n_results: 10 };
  const path = `${base}/${body.id}/query`;
  const agent = new http.Agent({ keepAlive: true });
  const taken = await interleave<'server' | 'broker', number>(
    options.rounds * 20,
    {
      server: () => elapsed(() => post(`${server.url}${path}`, query, agent)),
      broker: () => elapsed(() => bench.send('ann1', path, { body: query })),
    },
    signal,
  );
  agent.destroy();
  const [direct, brokered] = [summarize(taken.server), summarize(taken.broker)];
  const added = brokered.p50 - direct.p50;
  const overhead = { count: brokered.count, min: added, p50: added, p95: added };
  return [
    row('memory: query of Chroma through the broker', brokered),
    row('memory: ms that the broker adds to it, by the medians', overhead, [atMost(overhead, target.overheadMs)]),
  ];
}

const values = () => Array.from({ length: dimensions }, () => Math.random() - 0.5);

function manyRecords(): object {
  const ids = Array.from({ length: records }, (_, n) => `r${n}`);
  return { ids, embeddings: ids.map(values), documents: ids };
}

function post(url: string, body: unknown, agent: http.Agent): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(body));
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': bytes.length };
    const request = http.request(url, { method: 'POST', agent, headers });
    request.on('error', reject);
    request.on('response', (response) => response.resume().on('end', resolve));
    request.end(bytes);
  });
}
