import { expect, it } from 'vitest';
import type { Mount } from '../../../../model/mount.ts';
import { innerMounts, isOuter, outerMounts, refuseNested } from './nested.ts';

const bind = (target: string, daemonOnly = false): Mount => ({
  kind: 'bind',
  source: '/s',
  target,
  readonly: false,
  daemonOnly,
});
const tmpfs = (target: string): Mount => ({ kind: 'tmpfs', target, sizeBytes: 1, mode: 0o755 });

it('a mount is in the innermost one that contains it, whatever their order is', () => {
  const outer = outerMounts([bind('/a/b/c'), bind('/a'), bind('/a/b'), bind('/ab')]);
  expect(outer).toEqual([2, null, 1, null]);
  expect(innerMounts(outer)).toEqual([0, 2]);
  expect([0, 1, 2, 3].filter((index) => isOuter(outer, index))).toEqual([1, 2]);
});

it('a mount in a tmpfs is in none, and a tmpfs in another mount is refused', () => {
  expect(outerMounts([tmpfs('/tmp'), bind('/tmp/a')])).toEqual([null, null]);
  expect(() => outerMounts([bind('/a'), tmpfs('/a/b')])).toThrow('no tmpfs can be mounted at /a/b');
});

it('an engine that opens targets by path may mount only below what no agent can write', () => {
  expect(() => refuseNested([bind('/a', true), bind('/a/b')])).not.toThrow();
  expect(() => refuseNested([bind('/a'), bind('/a/b')])).toThrow('/a/b is inside of what agents can write');
});
