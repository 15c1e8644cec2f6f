import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { PlannedPath } from '../../model/change.ts';
import type { ApplyPlan, ApplyStep } from '../apply.ts';
import type { Stamp } from '../stamp.ts';
import { digested, requireDigest } from './plan-digest.ts';

const old: Stamp = {
  ...{ ino: '1', type: 'file', mode: 0o644, sizeBytes: 1, mtimeNs: '1' },
  uid: 0,
  gid: 0,
  target: null,
};
const path: PlannedPath = {
  ...{ path: 'f', sandbox: 'ada', change: 'modified', outcome: 'take' },
  ...{ gates: [], note: null, conflict: null },
};

function file(content: string, mode = 0o644, replaced: Stamp = old): ApplyStep {
  const bytes = Buffer.from(content);
  const make = { mode, sizeBytes: bytes.length, source: { from: 'bytes', bytes } as const, sha256: null };
  return { do: 'file', path: 'f', old: replaced, make };
}

const plan = (steps: ApplyStep[], paths = [path]): ApplyPlan => ({ paths, blocked: false, steps });
const digestOf = (steps: ApplyStep[], paths = [path]) => digested(plan(steps, paths)).digest;

describe('the digest of a plan', () => {
  it('is equal for the same decisions and contents, whatever they replace', () => {
    expect(digestOf([file('a')])).toBe(digestOf([file('a', 0o644, { ...old, ino: '2', mtimeNs: '9' })]));
  });

  it.each<[string, ApplyStep[], PlannedPath[]]>([
    ['another content of the same size', [file('b')], [path]],
    ['another mode', [file('a', 0o755)], [path]],
    ['nothing to do', [], [path]],
    ['another act', [{ do: 'remove', path: 'f', old }], [path]],
    ['a link in its place', [{ do: 'link', path: 'f', old, target: 'a' }], [path]],
    ['another decision', [file('a')], [{ ...path, outcome: 'merge' }]],
    ['another gate', [file('a')], [{ ...path, gates: ['ci'] }]],
    ['another sandbox', [file('a')], [{ ...path, sandbox: 'bob' }]],
  ])('differs for %s', (_, steps, paths) => {
    expect(digestOf(steps, paths)).not.toBe(digestOf([file('a')]));
  });

  it('differs for another target of a link and another mode in place', () => {
    const link = (target: string): ApplyStep => ({ do: 'link', path: 'f', old, target });
    const chmod = (mode: number): ApplyStep => ({ do: 'chmod', path: 'f', old, mode });
    expect(digestOf([link('a')])).not.toBe(digestOf([link('b')]));
    expect(digestOf([chmod(0o644)])).not.toBe(digestOf([chmod(0o755)]));
  });

  it('comes with the hash of each content, so that staging refuses any other', () => {
    const [step] = digested(plan([file('a')])).plan.steps;
    const sha256 = createHash('sha256').update('a').digest('hex');
    expect(step).toMatchObject({ do: 'file', make: { sha256 } });
  });

  it('keeps the hash that a gate has checked', () => {
    const checked = file('a') as ApplyStep & { do: 'file' };
    const { plan: made } = digested(plan([{ ...checked, make: { ...checked.make, sha256: 'checked' } }]));
    expect(made.steps).toMatchObject([{ make: { sha256: 'checked' } }]);
  });
});

it('an apply is refused if the changes are not those that were shown', () => {
  requireDigest(undefined, 'a');
  requireDigest('a', 'a');
  expect(() => requireDigest('a', 'b')).toThrow(expect.objectContaining({ code: 'conflict' }));
});
