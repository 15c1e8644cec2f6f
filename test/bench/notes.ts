/**
 * The memory of agents: durable saves and searches through the daemon, a search among many notes, and the growth of the
 * daemon after many calls.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '../../src/client/client.ts';
import { openMemories } from '../../src/noun/memory/memories.ts';
import type { Memory } from '../../src/noun/memory/memory.ts';
import { defaultMemoryLimits } from '../../src/noun/memory/model/memory.ts';
import { person } from '../conformance/memory.ts';
import { Installation } from '../harness/installation.ts';
import { measureBroker } from './chroma.ts';
import { openInspector } from './daemon-memory.ts';
import { atMost, type Row, row } from './report.ts';
import { elapsed, interleave, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

const target = { saveMs: 5, textMs: 20, vectorMs: 60, grownMb: 16 };
const dimensions = 384;
const model = 'bench';
const words = 20_000;

export async function measureNotes({ options, cleanup, signal }: Bench): Promise<Row[]> {
  const installation = new Installation();
  cleanup.add('the daemon with notes', () => installation.dispose());
  await installation.list();
  const { client } = installation;
  const saved = await interleave<'save', number>(
    options.rounds * 5,
    { save: () => elapsed(() => save(client)) },
    signal,
  );
  const save50 = summarize(saved.save);
  return [
    row('memory: durable save through the daemon', save50, [atMost(save50, target.saveMs)]),
    ...(await measureSearch(options.notes, options.rounds, signal)),
    ...(await measureGrowth(installation, options.noteCalls)),
    ...(await measureBroker({ options, cleanup, signal })),
  ];
}

const save = (client: Client) => client.call('POST /v1/memory/notes', { body: { text: noteText() } });

/**
 * Words are as frequent as in a language: the second half as often as the first, the third a third as often, and so on.
 */
const sums = Float64Array.from({ length: words });
let sum = 0;
for (let rank = 0; rank < words; rank++) {
  sum += 1 / (rank + 1);
  sums[rank] = sum;
}
function word(): string {
  const at = Math.random() * sum;
  let [low, high] = [0, words - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sums[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return `w${low.toString(36)}q`;
}
const noteText = (length = 40) => Array.from({ length }, word).join(' ');
const values = () => Array.from({ length: dimensions }, () => Math.random() - 0.5);

async function measureSearch(count: number, rounds: number, signal: AbortSignal): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-notes-'));
  const memories = openMemories();
  try {
    const memory = await memories.open(folder, defaultMemoryLimits);
    await fill(memory, count);
    const search = (query: object) => elapsed(() => memory.search({ scopes: null, limit: 10, ...query }));
    const vector = () => ({ model, values: values() });
    const taken = await interleave<'text' | 'vector' | 'both', number>(
      rounds * 3,
      {
        text: () => search({ text: noteText(6) }),
        vector: () => search({ vector: vector() }),
        both: () => search({ text: noteText(6), vector: vector() }),
      },
      signal,
    );
    const [text, vectors, both] = [taken.text, taken.vector, taken.both].map(summarize);
    return [
      row(`memory: search of ${count} notes by words`, text!, [atMost(text!, target.textMs)]),
      row(`memory: search of ${count} notes by ${dimensions} dimensions`, vectors!, [
        atMost(vectors!, target.vectorMs),
      ]),
      row(`memory: search of ${count} notes by both`, both!),
    ];
  } finally {
    await memories.close();
    rmSync(folder, { recursive: true });
  }
}

async function fill(memory: Memory, count: number): Promise<void> {
  const batch = 1000;
  for (let done = 0; done < count; done += batch) {
    const saves = Array.from({ length: Math.min(batch, count - done) }, () =>
      memory.save({
        ...{ scope: 'user', collection: 'notes', text: noteText(), metadata: {}, by: person, via: 'cli' },
        vector: { model, values: values() },
      }),
    );
    await Promise.all(saves);
  }
}

/** The growth of the daemon after many calls, without garbage. Each tenth call saves a note, the others search. */
async function measureGrowth({ client, daemonPid }: Installation, calls: number): Promise<Row[]> {
  const inspector = await openInspector(daemonPid);
  try {
    const search = () => client.call('POST /v1/memory/search', { body: { text: noteText(3) } });
    const many = async (count: number) => {
      let left = count;
      const caller = async () => {
        while (left-- > 0) await (left % 10 === 0 ? save(client) : search());
      };
      await Promise.all(Array.from({ length: 20 }, caller));
    };
    // The caches of the database and of the threads fill first.
    await many(Math.max(calls * 0.8, 2000));
    const before = await inspector.afterCollection();
    await many(calls);
    const after = await inspector.afterCollection();
    const grown = (what: string, grownMb: number): Row => {
      const only = { count: calls, min: grownMb, p50: grownMb, p95: grownMb };
      return { ...row(`memory: ${what} over ${calls} calls`, only, [atMost(only, target.grownMb)]), unit: 'MB' };
    };
    return [
      grown('heap of the daemon grown', after.heapMb - before.heapMb),
      grown('resident memory of the daemon grown', after.residentMb - before.residentMb),
    ];
  } finally {
    inspector.close();
  }
}
