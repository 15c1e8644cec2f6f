import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeEngine } from '../../../../test/fakes/engine/engine.ts';
import type { ProgramSurroundings } from '../../../../test/fakes/engine/process.ts';
import { forever, say } from '../../../../test/fakes/engine/program.ts';
import { createMemoryStore } from '../../../../test/fakes/store/memory.ts';
import { plainData, samplePlaces } from '../../../../test/fixtures/places.ts';
import { sampleSpec } from '../../../../test/fixtures/sandbox.ts';
import type { Launch, Process } from '../../../kernel/engine/engine.ts';
import { Fault } from '../../../model/fault.ts';
import { defaultLimits } from '../../../model/limits.ts';
import { initialStatus } from '../../sandbox/model.ts';
import { createReconciler } from '../../sandbox/reconcile/reconciler.ts';
import { inside, saveBundle } from './commits.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-commits-'));
  path = join(folder, 'bundle');
});
afterEach(() => rmSync(folder, { recursive: true }));

const programs = {
  bundle: ({ stdout }: ProgramSurroundings) => say(stdout, 'a bundle'),
  floods: ({ stdout }: ProgramSurroundings) => {
    for (let n = 0; n < 100; n += 1) say(stdout, 'no bundle');
    return forever();
  },
  begins: ({ stdout }: ProgramSurroundings) => {
    say(stdout, 'a part');
    return forever();
  },
};

const launch: Launch = {
  ...{ id: '0123456789abcdef', hostname: 'box', slot: 0, runtime: null, root: { kind: 'host' }, mounts: [] },
  ...{
    command: [],
    env: {},
    cwd: '/',
    limits: defaultLimits,
    demanded: [],
    held: [],
    stdin: false,
    terminal: null,
    console: false,
  },
};

/** Runs a program in place of git inside. */
async function git(...command: string[]): Promise<Process> {
  const engine = createFakeEngine({ programs });
  const { handle } = await engine.start(launch);
  return engine.exec(launch.id, handle, { command, env: {}, cwd: '/', stdin: false, terminal: null });
}

describe('a bundle', () => {
  it('is written whole', async () => {
    expect(await saveBundle(await git('bundle'), path, { maxBytes: 100 })).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe('a bundle');
  });

  it('that never ends is aborted after a time-out, and git is killed', async () => {
    const process = await git('begins');
    await expect(saveBundle(process, path, { maxBytes: 100, withinMs: 20 })).rejects.toMatchObject({ code: 'timeout' });
    expect(await process.exited).toMatchObject({ signal: 'SIGKILL' });
  });

  it('that is larger than allowed is aborted, and git is killed', async () => {
    const process = await git('floods');
    await expect(saveBundle(process, path, { maxBytes: 100 })).rejects.toMatchObject({ code: 'exhausted' });
    expect(await process.exited).toMatchObject({ signal: 'SIGKILL' });
    // The save may be aborted before the file was made.
    expect(statSync(path, { throwIfNoEntry: false })?.size ?? 0).toBeLessThanOrEqual(100);
  });

  it('for which the disk has no space is rejected with that error', async () => {
    await expect(saveBundle(await git('bundle'), '/dev/full', { maxBytes: 100 })).rejects.toMatchObject({
      code: 'ENOSPC',
    });
  });

  it.each([
    [['false'], 'git in the sandbox could not bundle its commits: it ended with 1'],
    [['no-git'], 'git in the sandbox could not bundle its commits: no-git: command not found'],
  ])('that %j cannot make is refused with a reason', async (command, message) => {
    await expect(saveBundle(await git(...command), path, { maxBytes: 100 })).rejects.toMatchObject({
      code: 'invalid',
      message,
    });
  });
});

describe('a task inside a sandbox', () => {
  const { id } = launch;
  const at = '2026-01-01T00:00:00.000Z';

  async function running() {
    const [store, engine, places] = [createMemoryStore(), createFakeEngine(), samplePlaces(folder)];
    const reconciler = createReconciler({
      store,
      engineOf: () => engine,
      places,
      data: plainData(places),
      now: () => at,
    });
    const value = { id, name: 'box', createdAt: at, spec: sampleSpec, status: initialStatus };
    store.insert({ kind: 'sandbox', id, owner: 'ann', name: 'box', value }, { at, type: 't', subject: id, data: {} });
    await reconciler.settle(id);
    return { engine, parts: { store, reconciler }, sandbox: store.get('sandbox', id)!.value };
  }

  it('runs in a temporary sandbox with the same state if its sandbox has ended', async () => {
    const { engine, parts, sandbox } = await running();
    engine.end(id, { exitCode: 0 });
    const place = await inside(parts, sandbox, async (one, handle) => {
      await engine.exec(one, handle, { command: ['true'], env: {}, cwd: '/', stdin: false, terminal: null });
      return one;
    });
    expect(place).not.toBe(id);
    expect(await engine.list()).not.toContain(place);
  });

  it('that fails while the sandbox runs is rejected with its Fault', async () => {
    const { parts, sandbox } = await running();
    const task = inside(parts, sandbox, () => Promise.reject(new Fault('invalid', 'no git')));
    await expect(task).rejects.toThrow('no git');
  });
});
