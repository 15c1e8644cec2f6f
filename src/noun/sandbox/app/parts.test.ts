import { expect, it } from 'vitest';
import { sampleSpec } from '../../../../test/fixtures/sandbox.ts';
import type { Home } from '../../../kernel/home/home.ts';
import { Fault } from '../../../model/fault.ts';
import { initialStatus, type Sandbox } from '../model.ts';
import type { SandboxPart } from '../part/part.ts';
import { sandboxData } from './parts.ts';

const sandbox: Sandbox = { id: '1', name: 'box', createdAt: '', status: initialStatus, spec: sampleSpec };

/** Parts that record their calls; `fails`: the call, such as `b.release`, that fails. */
function data(fails = '', autoRemove = false) {
  const calls: string[] = [];
  const reported: string[] = [];
  const called = async (call: string) => {
    calls.push(call);
    if (call === fails) throw new Fault('internal', call);
  };
  const part = (name: string, more: SandboxPart = {}): SandboxPart => ({
    prepare: () => called(`${name}.prepare`),
    connect: () => called(`${name}.connect`),
    conclude: () => called(`${name}.conclude`),
    release: () => called(`${name}.release`),
    ...more,
  });
  const parts = [part('a'), part('b'), part('c'), {}];
  const made = (all: readonly SandboxPart[] = parts) =>
    sandboxData({
      home: {} as Home,
      log: { maxBytes: 1, files: 1 },
      parts: all,
      report: (_, fault) => reported.push(fault.message),
    });
  return { calls, reported, part, made, box: { ...sandbox, spec: { ...sampleSpec, autoRemove } } };
}

it('parts are called in their order, and a start ends at the first that fails', async () => {
  const { calls, made } = data('b.prepare');
  await expect(made().prepare(sandbox)).rejects.toThrow('b.prepare');
  await made().connect(sandbox, () => ({}) as never);
  expect(calls).toEqual(['a.prepare', 'b.prepare', 'a.connect', 'b.connect', 'c.connect']);
});

it('the limits that parts enforce are returned', async () => {
  const { made, part } = data();
  const disk = part('disk', { prepare: (_sandbox, _places, enforces) => void enforces('diskBytes') });
  expect(await made([part('a'), disk]).prepare(sandbox)).toEqual(['diskBytes']);
  expect(await made().prepare(sandbox)).toEqual([]);
});

it('any part can keep the sandbox at its end, and later parts still conclude', async () => {
  const { calls, made, part } = data();
  const work = part('work', { conclude: async (_sandbox, keep) => keep() });
  expect(await made([work, part('a')]).conclude(sandbox)).toBe(true);
  expect(calls).toEqual(['a.conclude']);
  expect(await made().conclude(sandbox)).toBe(false);
});

it.each([true, false])(
  'a part that cannot conclude is reported, and keeps a sandbox with autoRemove (%j)',
  async (auto) => {
    const { made, reported, box } = data('b.conclude', auto);
    expect(await made().conclude(box)).toBe(auto);
    expect(reported).toEqual(['b.conclude']);
  },
);

it('each part releases what it has although another one fails; the first error is thrown', async () => {
  const { calls, made } = data('a.release');
  await expect(made().release(sandbox)).rejects.toThrow('a.release');
  expect(calls).toEqual(['a.release', 'b.release', 'c.release']);
});
