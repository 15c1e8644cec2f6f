/**
 * Saving the state of a story: by a worker in the store, beside one JSON file of all containers that is locked, read
 * and rewritten whole. Both are equally durable: either left to the kernel, or on disk before work continues.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/kernel/store/sqlite.ts';
import { writeWhole } from '../../src/lib/file/file.ts';
import { tryLock } from '../../src/lib/sys/sys.ts';
import { SwarmState } from '../../src/noun/swarm/app/state/state.ts';
import { changeOf, withMessage } from '../../src/noun/swarm/app/worker/work-change.ts';
import type { MessageFromAdapter } from '../../src/noun/swarm/model/message.ts';
import { exportOf, freshWork, type SwarmContainer } from '../../src/noun/swarm/model/swarm.ts';
import { noProgress } from '../../src/noun/swarm/model/task.ts';
import { type Row, row, timesPeer } from './report.ts';
import { elapsed, interleave, summarize } from './sample.ts';

const target = 1 / 50;
const storyIds = ['US-001', 'US-002', 'US-003', 'US-004', 'US-005'];
/** The number of updates in a row; a sample is their mean. */
const updates = 20;

export function entry(n: number) {
  const taskFilePath = `.carrel/tasks/2026-01-31-feature-${n}-tasks.json`;
  return {
    containerId: n.toString(16).padStart(12, '0'),
    containerName: `c-${n}`,
    taskFilePath,
    branchName: `feat/${n}`,
  };
}

export async function stateRows(count: number, rounds: number, signal: AbortSignal): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-bench-state-'));
  const store = openSqliteStore(join(folder, 'carrel.db'));
  try {
    const state = new SwarmState('ann', store, () => new Date().toISOString());
    const swarm = state.init('/p', false);
    const pending = { status: 'pending', output: '' } as const;
    const stories = Object.fromEntries(storyIds.map((id) => [id, pending]));
    const known = { storyProgress: noProgress, work: freshWork({ agent: 'claude', request: {}, stories }) };
    const workers = Array.from({ length: count }, (_, n) => new Worker(state, state.add(swarm, entry(n), known)));
    const file = join(folder, 'swarm-state.json');
    writeFileSync(file, JSON.stringify(exportOf(swarm, state.containers(swarm)), null, 2));
    let turn = 0;
    const each = (update: (n: number) => void) => async () => {
      const ms = await elapsed(async () => {
        for (let n = 0; n < updates; n += 1) update(turn++);
      });
      return ms / updates;
    };
    const measures = {
      file: each((n) => rewrite(file, n % count, replace)),
      store: each((n) => workers[n % count]!.hear(n, true)),
      syncedFile: each((n) => rewrite(file, n % count, writeWhole)),
      syncedStore: each((n) => workers[n % count]!.hear(n, false)),
    };
    const taken = await interleave(rounds, measures, signal);
    const what = `lock, read and rewrite a JSON file of ${count} entries`;
    const compared = (file: number[], ours: number[], how: string, promised: number | null) => [
      row(`${what}${how}`, summarize(file)),
      row(
        `  state update in the store${how}`,
        summarize(ours),
        timesPeer(summarize(ours), 'JSON file', summarize(file), promised),
      ),
    ];
    return [
      ...compared(taken.file, taken.store, '', target),
      ...compared(taken.syncedFile, taken.syncedStore, ', synced to disk', null),
    ];
  } finally {
    store.close();
    rmSync(folder, { recursive: true });
  }
}

/** Saves messages of an adapter as a worker does. */
class Worker {
  readonly #state: SwarmState;
  #container: SwarmContainer;

  constructor(state: SwarmState, container: SwarmContainer) {
    this.#state = state;
    this.#container = container;
  }

  hear(n: number, lazy: boolean): void {
    const storyId = storyIds[n % storyIds.length]!;
    const { swarmId, containerId } = this.#container;
    const message: MessageFromAdapter = {
      type: 'progress-update',
      timestamp: new Date().toISOString(),
      swarmId,
      containerId,
      payload: { storyId, status: 'in_progress', output: `step ${n}` },
    };
    const change = changeOf(this.#container, withMessage(this.#container.work!, message));
    this.#container = this.#state.change(this.#container, change, 'swarm.progress', lazy);
  }
}

/** Other processes see the complete file or the old one; after a power cut it may be incomplete. */
function replace(file: string, text: string): void {
  writeFileSync(`${file}.tmp`, text);
  renameSync(`${file}.tmp`, file);
}

type Entries = { containers: { storyProgress: { completed: number }; updatedAt: string }[] };

function rewrite(file: string, at: number, write: (file: string, text: string) => void): void {
  const lock = openSync(`${file}.lock`, 'w');
  try {
    if (!tryLock(lock)) throw new Error('another process has the lock');
    const state = JSON.parse(readFileSync(file, 'utf8')) as Entries;
    const container = state.containers[at]!;
    container.storyProgress = { ...container.storyProgress, completed: at };
    container.updatedAt = new Date().toISOString();
    write(file, JSON.stringify(state, null, 2));
  } finally {
    closeSync(lock);
  }
}
