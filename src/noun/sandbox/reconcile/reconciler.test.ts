import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeEngine, type FakeEngine } from '../../../../test/fakes/engine/engine.ts';
import type { End, ProgramSurroundings } from '../../../../test/fakes/engine/process.ts';
import { forever } from '../../../../test/fakes/engine/program.ts';
import { failing, type Knobs } from '../../../../test/fakes/store/failing.ts';
import { createMemoryStore } from '../../../../test/fakes/store/memory.ts';
import { oneEngine } from '../../../../test/fixtures/engines.ts';
import { plainData, samplePlaces } from '../../../../test/fixtures/places.ts';
import { sampleSpec } from '../../../../test/fixtures/sandbox.ts';
import { soon } from '../../../../test/fixtures/soon.ts';
import type { EngineOf } from '../../../kernel/engine/engine.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { Fault } from '../../../model/fault.ts';
import { idPattern } from '../../../model/name.ts';
import { initialStatus, type Sandbox, type SandboxSpec, type SandboxStatus, withSpec } from '../model.ts';
import { Loop } from './loop.ts';
import { removeOrphans } from './orphans.ts';
import type { Reconciler } from './reconcile.ts';
import { createReconciler } from './reconciler.ts';

const id = '0123456789abcdef';
const at = '2026-01-01T00:00:00.000Z';

let home: string;
let store: Store & Knobs;
let engine: FakeEngine;
let reconciler: Reconciler;
/** How often the stubborn program got a signal to end. */
let stubborn: number;

function ignoreStop({ onSignal }: ProgramSurroundings): Promise<End> {
  onSignal('SIGTERM', () => {
    stubborn += 1;
  });
  return forever();
}

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'carrel-reconcile-'));
  store = failing(createMemoryStore());
  stubborn = 0;
  engine = createFakeEngine({ programs: { stubborn: ignoreStop } });
  reconciler = open(engine);
});
afterEach(() => rmSync(home, { recursive: true }));

/** Makes a reconciler like a new daemon: it has only what the store and the engine hold. */
function open(over: FakeEngine): Reconciler {
  const places = samplePlaces(home);
  return createReconciler({ store, engineOf: () => over, places, data: plainData(places), now: () => at });
}

function insert(change: Partial<SandboxSpec> = {}): void {
  const spec = { ...sampleSpec, ...change };
  const value = { id, name: 'box', createdAt: at, spec, status: initialStatus };
  store.insert(
    { kind: 'sandbox', id, owner: 'ann', name: 'box', value },
    { at, type: 'sandbox.created', subject: id, data: {} },
  );
}

function ask(change: Partial<SandboxSpec>): void {
  const row = store.get('sandbox', id)!;
  store.update(row, withSpec(row.value, change), { at, type: 'changed', subject: id, data: {} });
}

function status(): SandboxStatus {
  return store.get('sandbox', id)!.value.status;
}

describe('settle', () => {
  it('starts a sandbox until no step is left', async () => {
    insert();
    await reconciler.settle(id);
    expect(status()).toMatchObject({ state: 'running', startedAt: at });
    expect(await reconciler.turn(id)).toBeNull();
  });

  it('records the end of a sandbox', async () => {
    insert();
    await reconciler.settle(id);
    engine.end(id, { exitCode: 3 });
    await reconciler.settle(id);
    expect(status()).toMatchObject({ state: 'failed', exitCode: 3, finishedAt: at });
  });

  it('records a sandbox that vanished as lost', async () => {
    insert();
    await reconciler.settle(id);
    engine.vanish(id);
    await reconciler.settle(id);
    expect(status()).toMatchObject({ state: 'failed', reason: 'lost' });
  });

  it('records a sandbox that was paused from outside as stopped, and stops it', async () => {
    insert();
    await reconciler.settle(id);
    engine.freeze(id);
    await reconciler.settle(id);
    expect(status()).toMatchObject({ state: 'stopped', reason: 'paused' });
  });

  it('runs the command once when the start was not recorded', async () => {
    insert({ command: ['sleep', '60'] });
    store.failNext('update', new Fault('unavailable', 'the disk is away'));
    await expect(reconciler.settle(id)).rejects.toThrow();
    const next = engine.reopen();
    await open(next).settle(id);
    expect(status().state).toBe('running');
    expect(engine.begun).toHaveLength(1);
  });

  it('records why a start failed, and throws it', async () => {
    insert();
    engine.faults.failNext('start', new Fault('unsupported', 'no runtime'));
    await expect(reconciler.settle(id)).rejects.toMatchObject({ code: 'unsupported' });
    expect(status()).toMatchObject({ state: 'failed', reason: 'no runtime' });
  });

  it('keeps the output of a start before the next one, but not before a removal', async () => {
    const kept: string[] = [];
    const keepOutput = async ({ status: { attempt } }: Sandbox, lines: AsyncIterable<{ bytes: Buffer }>) => {
      for await (const { bytes } of lines) kept.push(`${attempt}: ${bytes}`);
    };
    const places = samplePlaces(home);
    const data = { ...plainData(places), keepOutput };
    reconciler = createReconciler({ store, engineOf: () => engine, places, data, now: () => at });
    insert({ command: ['echo', 'hello'] });
    const ended = () => soon(async () => expect((await engine.inspect(id, null)).kind).toBe('exited'));
    for (const attempt of [1, 2]) {
      ask({ attempt });
      await reconciler.settle(id);
      await ended();
      await reconciler.settle(id);
    }
    expect(kept).toEqual(['1: hello\n']);
    ask({ desired: 'removed' });
    await reconciler.settle(id);
    expect(kept).toEqual(['1: hello\n']);
    expect(store.list('sandbox')).toEqual([]);
  });

  it('starts an ended sandbox again only for a new attempt', async () => {
    insert();
    await reconciler.settle(id);
    engine.end(id, { exitCode: 1 });
    await reconciler.settle(id);
    await reconciler.settle(id);
    expect(engine.begun).toHaveLength(1);
    ask({ attempt: 2 });
    await reconciler.settle(id);
    expect(status()).toMatchObject({ state: 'running', attempt: 2, exitCode: null });
    expect(engine.begun).toHaveLength(2);
  });

  it('removes engine state, folder and record', async () => {
    insert();
    await reconciler.settle(id);
    ask({ desired: 'removed' });
    await reconciler.settle(id);
    expect(store.get('sandbox', id)).toBeNull();
    expect(await engine.list()).toEqual([]);
  });

  it('keeps a sandbox with autoRemove while a client reads from it', async () => {
    insert({ autoRemove: true });
    const release = reconciler.hold(id);
    await reconciler.settle(id);
    engine.end(id, { exitCode: 0 });
    await reconciler.settle(id);
    expect(status().state).toBe('completed');
    await release();
    expect(store.get('sandbox', id)).toBeNull();
  });
});

describe('refresh', () => {
  it('waits during the first turn of a new daemon for the state that this turn observes', async () => {
    insert();
    await reconciler.settle(id);
    engine.vanish(id);
    const next = open(engine.reopen());
    const looking = next.settle(id);
    await next.refresh(store.get('sandbox', id)!);
    expect(status()).toMatchObject({ state: 'failed', reason: 'lost' });
    await looking;
  });
});

describe('a visit', () => {
  it('runs on the engine of its sandbox', async () => {
    insert({ engine: 'docker' });
    const [other, places] = [createFakeEngine(), samplePlaces(home)];
    const engineOf: EngineOf = ({ spec }) => (spec.engine === 'docker' ? other : engine);
    reconciler = createReconciler({ store, engineOf, places, data: plainData(places), now: () => at });
    await reconciler.visit(store.get('sandbox', id)!.value, async (visit) => {
      expect([await engine.list(), await other.list()]).toEqual([[], [visit]]);
    });
    expect(await other.list()).toEqual([]);
  });

  async function ended(): Promise<Sandbox> {
    insert();
    await reconciler.settle(id);
    engine.end(id, { exitCode: 0 });
    await reconciler.settle(id);
    return store.get('sandbox', id)!.value;
  }

  it('has a valid id, is not removed as an orphan while it runs, and is removed after its task', async () => {
    const sandbox = await ended();
    const visitor = await reconciler.visit(sandbox, async (visit) => {
      await removeOrphans(
        store,
        oneEngine(engine),
        () => {},
        (one) => reconciler.isVisit(one),
      );
      expect(await engine.list()).toContain(visit);
      return visit;
    });
    expect(visitor).toMatch(idPattern);
    expect(visitor).not.toBe(id);
    expect(await engine.list()).toEqual([id]);
  });

  it('is an orphan after a crash, and the next visit does not reuse it', async () => {
    const sandbox = await ended();
    let cut = '';
    void reconciler.visit(sandbox, (visit) => {
      cut = visit;
      return new Promise(() => {});
    });
    await soon(() => expect(cut).not.toBe(''));
    const [next, before] = [engine.reopen(), engine.begun.length];
    await open(next).visit(sandbox, async () => {});
    expect(engine.begun).toHaveLength(before + 1);
    engine.leave({ ...engine.begun.at(-1)! }, 'running');
    await removeOrphans(store, oneEngine(next), () => {});
    expect(await next.list()).toEqual([id]);
  });

  it('is removed with its sandbox after a crash', async () => {
    const sandbox = await ended();
    await reconciler.visit(sandbox, async () => {});
    engine.leave({ ...engine.begun.at(-1)! }, 'running');
    ask({ desired: 'removed' });
    await reconciler.settle(id);
    expect(await engine.list()).toEqual([]);
  });
});

describe('hurry', () => {
  it('shortens the grace time of a stop that is under way', async () => {
    insert({ command: ['stubborn'], graceMs: 3_600_000 });
    await reconciler.settle(id);
    ask({ desired: 'stopped' });
    const settled = reconciler.settle(id);
    await soon(() => expect(stubborn).toBe(1));
    await reconciler.hurry(store.get('sandbox', id)!, 0);
    await settled;
    expect(status().state).toBe('stopped');
  });

  it('does nothing while other work holds the lock of the sandbox', async () => {
    insert();
    await reconciler.settle(id);
    const { handle } = status();
    await reconciler.alone(id, async () => {
      await engine.pause(id, handle);
      ask({ desired: 'stopped' });
      await reconciler.hurry(store.get('sandbox', id)!, 0);
      expect(await engine.inspect(id, handle)).toMatchObject({ kind: 'running' });
      await engine.resume(id, handle);
    });
    await reconciler.settle(id);
    expect(status().state).toBe('stopped');
  });
});

describe('the loop', () => {
  it('settles a sandbox when its engine reports a change', async () => {
    insert();
    const loop = new Loop({ store, engines: oneEngine(engine), reconciler, report: () => {} });
    await loop.start();
    const ended = new Promise<void>((resolve) => {
      store.subscribe((event) => event.type === 'sandbox.completed' && resolve());
    });
    engine.end(id, { exitCode: 0 });
    await ended;
    loop.stop();
  });

  it('removes orphans, and reports one that cannot be removed', async () => {
    insert();
    await reconciler.settle(id);
    const row = store.get('sandbox', id)!;
    store.remove(row, { at, type: 'gone', subject: id, data: {} });
    engine.faults.failNext('remove', new Fault('unavailable', 'busy'));
    const reported: string[] = [];
    await removeOrphans(store, oneEngine(engine), (orphan) => reported.push(orphan));
    expect(reported).toEqual([id]);
    await removeOrphans(store, oneEngine(engine), () => {});
    expect(await engine.list()).toEqual([]);
  });
});
