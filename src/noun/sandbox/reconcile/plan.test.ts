import { describe, expect, it } from 'vitest';
import { sampleSpec } from '../../../../test/fixtures/sandbox.ts';
import type { Exit, Observed } from '../../../kernel/engine/engine.ts';
import { initialStatus, type Sandbox, type SandboxSpec, type SandboxStatus } from '../model.ts';
import { plan } from './plan.ts';

function sandbox(status: Partial<SandboxStatus>, change: Partial<SandboxSpec> = {}): Sandbox {
  return {
    id: '0123456789abcdef',
    name: 'box',
    createdAt: '2026-01-01T00:00:00.000Z',
    spec: { ...sampleSpec, ...change },
    status: { ...initialStatus, ...status },
  };
}

const launched = { handle: { version: 1 } };
const running = { state: 'running', ...launched } as const;
const absent: Observed = { kind: 'absent' };
const alive: Observed = { kind: 'running', started: { handle: { version: 1 }, runtime: 'crun', advisory: [] } };
const paused: Observed = { kind: 'paused' };
const created: Observed = { kind: 'created' };

function exited(exit: Partial<Exit>): Observed {
  return { kind: 'exited', exit: { exitCode: 0, signal: null, outOfMemory: false, ...exit } };
}

describe('a recorded and an observed state', () => {
  it.each([
    ['pending, launched', { state: 'pending', ...launched } as const],
    ['running', running],
  ])('recorded as %s, observed absent: becomes failed with reason lost', (_, status) => {
    expect(plan(sandbox(status), absent)).toEqual({ action: 'conclude', state: 'failed', reason: 'lost', exit: null });
  });

  it('recorded as running, observed exited with 0: becomes completed', () => {
    expect(plan(sandbox(running), exited({}))).toMatchObject({ action: 'conclude', state: 'completed', reason: null });
  });

  it.each([
    ['a code', { exitCode: 3 }, 'exited with 3'],
    ['a signal', { exitCode: 137, signal: 'SIGKILL' }, 'killed by SIGKILL'],
    ['out of memory', { exitCode: 137, signal: 'SIGKILL', outOfMemory: true }, 'oom'],
  ])('recorded as running, observed ended with %s: becomes failed', (_, exit, reason) => {
    expect(plan(sandbox(running), exited(exit))).toMatchObject({ action: 'conclude', state: 'failed', reason });
  });

  it('recorded as running, observed exited with 0 although a child ran out of memory: becomes completed', () => {
    expect(plan(sandbox(running), exited({ outOfMemory: true }))).toMatchObject({ state: 'completed' });
  });

  it('recorded as running, observed paused: becomes stopped', () => {
    expect(plan(sandbox(running), paused)).toMatchObject({ action: 'conclude', state: 'stopped', reason: 'paused' });
  });

  it('recorded as running, observed without keeper: noted once, and again when a keeper is back', () => {
    const lost: Observed = { ...alive, trouble: 'keeper lost' };
    expect(plan(sandbox(running), lost)).toEqual({ action: 'note', trouble: 'keeper lost' });
    expect(plan(sandbox({ ...running, reason: 'keeper lost' }), lost)).toBeNull();
    expect(plan(sandbox({ ...running, reason: 'keeper lost' }), alive)).toEqual({ action: 'note', trouble: null });
  });

  it('recorded as pending, observed running: becomes running', () => {
    expect(plan(sandbox({ state: 'pending' }), alive)).toMatchObject({ action: 'adopt' });
  });

  it.each(['completed', 'failed', 'stopped'] as const)(
    'recorded as %s, observed absent or exited: stays unchanged',
    (state) => {
      for (const observed of [absent, exited({ exitCode: 9 })]) expect(plan(sandbox({ state }), observed)).toBeNull();
    },
  );

  it('recorded as ended, observed running: the process is stopped, and the record stays unchanged', () => {
    for (const observed of [alive, created, paused]) {
      expect(plan(sandbox({ state: 'failed' }), observed)).toEqual({ action: 'stop' });
    }
  });
});

describe('the plan', () => {
  it('starts a sandbox that was never launched, also if a crash left it created', () => {
    for (const observed of [absent, created]) expect(plan(sandbox({}), observed)).toEqual({ action: 'start' });
  });

  it('does not run a command again if it ended before its start was recorded', () => {
    expect(plan(sandbox({}), exited({ exitCode: 4 }))).toMatchObject({ action: 'conclude', state: 'failed' });
  });

  it('has no step when the sandbox runs as requested', () => {
    expect(plan(sandbox(running), alive)).toBeNull();
  });

  it('stops a running sandbox, then records it as stopped whatever its exit code', () => {
    expect(plan(sandbox(running, { desired: 'stopped' }), alive)).toEqual({ action: 'stop' });
    expect(plan(sandbox(running, { desired: 'stopped' }), exited({ exitCode: 143, signal: 'SIGTERM' }))).toMatchObject({
      action: 'conclude',
      state: 'stopped',
      exit: { exitCode: 143 },
    });
  });

  it('records a sandbox that was stopped before its start as stopped, without starting it', () => {
    expect(plan(sandbox({}, { desired: 'stopped' }), absent)).toMatchObject({ action: 'conclude', state: 'stopped' });
  });

  it('removes in order: stop, record, clear, forget', () => {
    const removed = { desired: 'removed' } as const;
    expect(plan(sandbox(running, removed), alive)).toEqual({ action: 'stop' });
    expect(plan(sandbox(running, removed), exited({}))).toMatchObject({ action: 'conclude', state: 'stopped' });
    expect(plan(sandbox({ state: 'stopped' }, removed), exited({}))).toEqual({ action: 'clear' });
    expect(plan(sandbox({ state: 'stopped' }, removed), absent)).toEqual({ action: 'forget' });
  });

  it('removes a sandbox with autoRemove once no client reads from it', () => {
    const done = sandbox({ state: 'completed' }, { autoRemove: true });
    expect(plan(done, exited({}), true)).toBeNull();
    expect(plan(done, exited({}), false)).toEqual({ action: 'clear' });
  });

  it('renews the attempt after the last one was cleared from the engine', () => {
    const again = sandbox({ state: 'failed', attempt: 1 }, { attempt: 2 });
    expect(plan(again, exited({}))).toEqual({ action: 'clear' });
    expect(plan(again, absent)).toEqual({ action: 'renew' });
  });
});
