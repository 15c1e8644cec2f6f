import { expect, test } from 'vitest';
import { createFakeEngine } from '../../../test/fakes/engine/engine.ts';
import { Fault } from '../../model/fault.ts';
import type { Engine } from './engine.ts';
import { trySandbox } from './trial.ts';

test('trySandbox returns null if a sandbox starts, and leaves nothing', async () => {
  const engine = createFakeEngine();
  expect(await trySandbox(engine)).toBeNull();
  expect(await engine.list()).toEqual([]);
});

test('trySandbox returns the fault of the engine, and leaves nothing', async () => {
  const engine = createFakeEngine();
  const reason = new Fault('unavailable', 'the Docker Engine says: could not find catatonit');
  engine.faults.failNext('start', reason, 'created');
  expect(await trySandbox(engine)).toBe(reason);
  expect(await engine.list()).toEqual([]);
});

test('trySandbox returns a fault when the sandbox starts and its command fails', async () => {
  const engine = createFakeEngine({ programs: { true: () => 127 } });
  expect(await trySandbox(engine)).toMatchObject({ message: expect.stringContaining('ended with 127') });
});

test('trySandbox tries again when the sandbox was removed as an orphan', async () => {
  let starts = 0;
  const engine = {
    start: async () => {
      starts += 1;
    },
    inspect: async () => (starts === 1 ? { kind: 'absent' } : { kind: 'exited', exit: { exitCode: 0 } }),
    remove: async () => {},
  } as unknown as Engine;
  expect([await trySandbox(engine), starts]).toEqual([null, 2]);
});
