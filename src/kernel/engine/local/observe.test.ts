/** From the files of a sandbox and the processes that its handle names to its observed state. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ProcessRef, processRef } from '../../../lib/process/process.ts';
import { type LocalContext, noteNested } from './context.ts';
import type { LocalHandle } from './handle.ts';
import { Layout } from './layout.ts';
import { currentHandle, keeperOf, observe, pidOf, readExit } from './observe.ts';

const id = '0123456789abcdef';
const gone: ProcessRef = { pid: 0, startTicks: 0, bootId: '' };
const living = processRef(process.pid)!;
/** A later process with the pid of one that ended. */
const reused = { ...living, startTicks: living.startTicks - 1 };
const ofEarlierBoot = { ...living, bootId: 'earlier' };

let folder: string;
let context: LocalContext;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-observe-'));
  const cgroups = { version: 1, parent: null, byGroup: [], enforced: [] } as const;
  context = { layout: new Layout(folder), cgroups } as Partial<LocalContext> as LocalContext;
  mkdirSync(context.layout.run(id));
});
afterEach(() => rmSync(folder, { recursive: true }));

const handle = (init: ProcessRef, keeper: ProcessRef): LocalHandle => ({
  version: 1,
  runtime: 'crun',
  advisory: ['cpus'],
  init,
  keeper,
});
const exited = (text: string) => writeFileSync(context.layout.exit(id), text);
const put = (name: string, text: string) => writeFileSync(join(context.layout.run(id), name), text);
const note = { runtime: 'crun', runtimePath: '/usr/bin/crun', advisory: ['pids'], env: {}, maxProcesses: null };

describe('a sandbox with a handle', () => {
  it('runs while its first process and its keeper live', async () => {
    const started = { handle: handle(living, living), runtime: 'crun', advisory: ['cpus'] };
    expect(await observe(context, id, handle(living, living))).toEqual({ kind: 'running', started });
  });

  it('runs with trouble if its keeper is lost', async () => {
    expect(await observe(context, id, handle(living, gone))).toMatchObject({ kind: 'running', trouble: 'keeper lost' });
  });

  it('runs until its keeper has recorded the exit code, which it does when all output is written', async () => {
    expect(await observe(context, id, handle(gone, living))).toMatchObject({ kind: 'running' });
    exited('3');
    const exit = { exitCode: 3, signal: null, outOfMemory: false };
    expect(await observe(context, id, handle(gone, living))).toEqual({ kind: 'exited', exit });
  });

  it.each([
    ['ended', gone],
    ['were followed by others with the same pids', reused],
    ['ended with an earlier boot', ofEarlierBoot],
  ])('is absent if both processes %s and no exit code is recorded', async (_what, ref) => {
    expect(await observe(context, id, handle(ref, ref))).toEqual({ kind: 'absent' });
  });

  it('has exited as soon as the exit code is recorded, while its keeper still ends', async () => {
    exited('0');
    expect(await observe(context, id, handle(living, living))).toMatchObject({ kind: 'exited' });
  });

  it('is refused if the handle is of another version', async () => {
    await expect(observe(context, id, { version: 2 })).rejects.toMatchObject({ code: 'corrupt' });
  });
});

describe('a sandbox without a handle', () => {
  it('is absent without files, without a note, and with a note that a power failure cut', async () => {
    rmSync(context.layout.run(id), { recursive: true });
    expect(await observe(context, id, null)).toEqual({ kind: 'absent' });
    mkdirSync(context.layout.run(id));
    expect(await observe(context, id, null)).toEqual({ kind: 'absent' });
    put('launch.json', '{"runtime":"cr');
    expect(await observe(context, id, null)).toEqual({ kind: 'absent' });
  });

  it('is absent if the runtime has no state of it, and exited if its exit code is recorded', async () => {
    put('launch.json', JSON.stringify(note));
    put('keeper.pid', '0');
    expect(await observe(context, id, null)).toEqual({ kind: 'absent' });
    exited('0');
    expect(await observe(context, id, null)).toMatchObject({ kind: 'exited', exit: { exitCode: 0 } });
  });
});

describe('the records of a keeper', () => {
  it('an exit code counts when it is written whole', () => {
    expect(readExit(context, id)).toBeNull();
    exited('');
    expect(readExit(context, id)).toBeNull();
    exited('137');
    expect(readExit(context, id)).toEqual({ exitCode: 137, signal: 'SIGKILL', outOfMemory: false });
    put('oom', '');
    expect(readExit(context, id)).toMatchObject({ outOfMemory: true });
  });

  it('the pid of the first process is zero until the runtime has written it', () => {
    expect(pidOf(context, id)).toBe(0);
    put('pid', '17\n');
    expect(pidOf(context, id)).toBe(17);
  });

  it('a process is the keeper only if its arguments name the sandbox: another may have its pid', () => {
    put('keeper.pid', String(process.pid));
    expect(keeperOf(context, id)).toBeNull();
    rmSync(context.layout.run(id), { recursive: true });
    expect(keeperOf(context, id)).toBeNull();
  });

  it('the handle of the last launch has what its note says, and stands for processes that are gone', () => {
    expect(currentHandle(context, id)).toBeNull();
    put('launch.json', JSON.stringify(note));
    put('keeper.pid', '0');
    expect(currentHandle(context, id)).toEqual({ ...handle(gone, gone), advisory: ['pids'] });
    put('pid', String(process.pid));
    expect(currentHandle(context, id)).toMatchObject({ init: living, keeper: gone });
    noteNested(context, id);
    expect(currentHandle(context, id)).toMatchObject({ init: living });
  });
});
