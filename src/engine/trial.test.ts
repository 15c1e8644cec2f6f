import { expect, test } from 'vitest';
import { Fault } from '../model/fault.ts';
import type { Engine } from './engine.ts';
import { createFakeEngine } from './fake.ts';
import { trySandbox } from './trial.ts';

test('an engine that can start a sandbox has no reason against it, and keeps nothing', async () => {
  const engine = createFakeEngine();
  expect(await trySandbox(engine)).toBeNull();
  expect(await engine.list()).toEqual([]);
});

test('the reason of the engine comes back as it is, and nothing stays', async () => {
  const engine = createFakeEngine();
  const reason = new Fault('unavailable', 'the Docker Engine says: could not find catatonit');
  engine.faults.failNext('start', reason, 'created');
  expect(await trySandbox(engine)).toBe(reason);
  expect(await engine.list()).toEqual([]);
});

test('a sandbox that starts and fails is a reason, too', async () => {
  const engine = createFakeEngine({ programs: { true: () => 127 } });
  expect(await trySandbox(engine)).toMatchObject({ message: expect.stringContaining('ended with 127') });
});

test('one that was swept away as left over is tried again', async () => {
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
