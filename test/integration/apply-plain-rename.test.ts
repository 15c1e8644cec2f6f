/** Applies on a filesystem that can neither exchange names nor rename without replacing. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { SysError } from '../../src/lib/sys/sys.ts';
import { commitApply } from '../../src/noun/workspace/apply/commit/commit.ts';
import { undoApply } from '../../src/noun/workspace/apply/undo.ts';
import { apply, bench, everyBase, everyTaken, everyTheirs, isClean, planOf } from '../fixtures/apply-bench.ts';
import { file, harvest } from '../fixtures/tree.ts';

const EINVAL = 22;
const cannot = vi.hoisted(() => ({ tried: 0 }));
vi.mock('../../src/lib/sys/sys.ts', async (original) => {
  const refuse = () => {
    cannot.tried += 1;
    throw new SysError('renameat2', EINVAL);
  };
  return { ...(await original<object>()), renameExchange: refuse, renameNoReplace: refuse };
});

it('an apply and its undo work without these renames', () => {
  const one = bench(everyBase, everyBase, everyTheirs);
  apply(one);
  expect(cannot.tried).toBeGreaterThan(0);
  expect(harvest(one.project)).toEqual(everyTaken);
  undoApply(one.journal);
  expect(harvest(one.project)).toEqual(harvest(join(one.root, 'base')));
});

it('an apply is rolled back without these renames when the project changed meanwhile', () => {
  const one = bench(everyBase, everyBase, { ...everyTheirs, z: file('z') });
  const plan = planOf(one);
  writeFileSync(join(one.project, 'z'), 'mine', { mode: 0o644 });
  expect(() => commitApply(plan, one.project, one.journal, {})).toThrow(/changed meanwhile: z/);
  expect(harvest(one.project)).toEqual({ ...harvest(join(one.root, 'base')), z: file('mine') });
  expect(isClean(one.project)).toBe(true);
});
