import { expect, test } from 'vitest';
import { isYes } from '../../../client/stream/confirm.ts';
import type { SnapshotView } from '../api.ts';
import { restored, takenBack } from './commands.ts';
import { unchanged } from './diff.ts';
import { discarded } from './discard.ts';
import { inJson } from './patch.ts';
import { history } from './snapshots.ts';

const createdAt = '2026-01-01T00:00:00Z';
const now = Date.parse('2026-01-01T02:00:00Z');
const snapshot: SnapshotView = { id: 's1', label: 'before\nlunch', createdAt, auto: false, sizeBytes: 3 * 1024 ** 2 };
const auto: SnapshotView = { ...snapshot, id: 's10', label: null, auto: true, sizeBytes: 0 };

test('snapshots are a table in which automatic ones are marked', () => {
  expect(history([snapshot, auto, { ...auto, label: 'restore' }, { ...snapshot, label: null }], now)).toEqual([
    'ID   LABEL           AGE  SIZE',
    's1   before\\nlunch   2h   3.0M',
    's10  (auto)          2h   0B',
    's10  restore (auto)  2h   0B',
    's1   -               2h   3.0M',
  ]);
});

test('restore prints the snapshot and the command that goes back', () => {
  expect(restored('a', { restored: snapshot, before: auto })).toEqual([
    'a is back at snapshot s1 (before\\nlunch)',
    'what was there before is kept: carrel restore a s10 brings it back',
  ]);
});

test('discard prints the paths and the command that brings them back', () => {
  expect(discarded('a', { paths: [{ path: 'x\n' }, { path: 'y' }], snapshot: auto })).toEqual([
    '  "x\\n"',
    '  y',
    'discarded 2 changes of a',
    'carrel restore a s10 brings it back',
  ]);
  expect(discarded('a', { paths: [{ path: 'y' }], snapshot: null }).at(-1)).toBe('discarded 1 change of a');
});

test('undo prints the paths that it took back', () => {
  expect(takenBack({ apply: '1', sandboxes: ['a', 'b'], paths: [{ path: 'x' }] })).toEqual([
    '  x',
    'took 1 change of a, b back',
  ]);
});

test('diff says that there are no changes, and counts those inside .git', () => {
  expect(unchanged('a', 0)).toBe('a has no changes');
  expect(unchanged('a', 4)).toBe('a has no changes, apart from 4 inside .git');
});

test('only y and yes, in any case, confirm a question', () => {
  expect(['y', 'Y', ' yes ', 'YES'].every(isYes)).toBe(true);
  expect(['', 'n', 'yess', 'yes please', 'j'].some(isYes)).toBe(false);
});

test('a patch in JSON is text if it is UTF-8, and base64 otherwise', () => {
  expect(inJson(Buffer.from('é'))).toEqual({ patch: 'é' });
  expect(inJson(Buffer.from([0xff]))).toEqual({ patchBase64: '/w==' });
});
