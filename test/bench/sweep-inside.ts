/**
 * Reconciles records that need no step, with the real reconciler, a store on disk and the real engine, which observes
 * the running sandboxes of a home. If there are more records than sandboxes, several records share a sandbox. Prints
 * the times as JSON. Steps that would change a sandbox are refused.
 */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from '../../src/kernel/engine/engine.ts';
import { openContext } from '../../src/kernel/engine/local/context.ts';
import { openLocalEngine } from '../../src/kernel/engine/local/local.ts';
import { currentHandle } from '../../src/kernel/engine/local/observe.ts';
import { openHome } from '../../src/kernel/home/home.ts';
import { openSqliteStore } from '../../src/kernel/store/sqlite.ts';
import type { Store } from '../../src/kernel/store/store.ts';
import { Loop } from '../../src/noun/sandbox/reconcile/loop.ts';
import { createReconciler } from '../../src/noun/sandbox/reconcile/reconciler.ts';
import { oneEngine } from '../fixtures/engines.ts';
import { homeVolume, plainData } from '../fixtures/places.ts';
import { record } from './record.ts';
import { elapsed } from './sample.ts';

const [, , homeFolder, count, rounds] = process.argv as [string, string, string, string, string];
const home = openHome(homeFolder, process.getuid?.() !== 0, homeVolume);
const options = { folder: home.engine, installation: home.installation };
const engine = openLocalEngine(options);
const real = await engine.list();
const ids = Array.from({ length: Number(count) }, (_, index) => `${real[index % real.length]}-${index}`);
const realId = (id: string) => id.split('-')[0]!;

const looking = {
  name: 'local',
  inspect: (id: string, handle: unknown) => engine.inspect(realId(id), handle),
  list: async () => {
    await engine.list();
    return ids;
  },
  onChange: () => () => {},
} as unknown as Engine;

async function fillStore(store: Store): Promise<void> {
  const context = openContext(options);
  for (const id of ids) {
    const handle = await currentHandle(context, realId(id));
    const value = record(id, [], { state: 'running', handle, runtime: 'crun' });
    const event = { at: value.createdAt, type: 'sandbox.created', subject: id, data: {} };
    store.insert({ kind: 'sandbox', id, owner: 'bench', name: id, value }, event, { lazy: true });
  }
}

const folder = mkdtempSync(join(tmpdir(), 'carrel-bench-'));
const store = openSqliteStore(join(folder, 'carrel.db'));
try {
  await fillStore(store);
  const now = () => new Date().toISOString();
  const reconciler = createReconciler({ store, engineOf: () => looking, places: home, data: plainData(home), now });
  const report = (id: string, fault: Error) => {
    throw new Error(`${id} was not settled: ${fault.message}`);
  };
  const loop = new Loop({ store, engines: oneEngine(looking), reconciler, report });
  const before = store.lastSeq();
  const samples: number[] = [];
  for (let round = 0; round < Number(rounds); round += 1) samples.push(await elapsed(() => loop.sweep()));
  if (store.lastSeq() !== before) throw new Error('there was something to do');
  process.stdout.write(JSON.stringify(samples));
} finally {
  store.close();
  await engine.dispose();
  await rm(folder, { recursive: true, force: true });
}
