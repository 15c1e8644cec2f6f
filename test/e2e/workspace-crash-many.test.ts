/**
 * The daemon is killed at random moments of a long apply. The next command finds the apply done or not begun, never
 * partly done.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agent, stateOf } from '../harness/project.ts';
import { carrel, close, open, project } from './workspace-crash.ts';

describe('an apply of thousands of files', () => {
  const rounds = 2;
  const seed = Number(process.env.CARREL_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

  beforeAll(async () => {
    open('root');
    for (let n = 0; n < 1000; n += 1) project.put(`many/${n % 20}/${n}`, `${n}\n`);
    await carrel.ok('create', '--name', 'box', project.path);
    const script =
      'for d in many/*; do for f in $d/*; do case $f in *1) rm $f;; *) echo more >> $f;; esac; done; mkdir $d/new; for n in $(seq 50); do echo $n > $d/new/$n; done; done';
    await agent(carrel, 'box', script);
  });
  afterAll(close);

  const listed = async () => (await carrel.ok('diff', '--name-status', 'box')).split('\n').length - 1;

  it(`is done or not begun, whenever the daemon is killed (CARREL_TEST_SEED=${seed})`, {
    timeout: 120_000,
  }, async () => {
    const random = randomOf(seed);
    const before = stateOf(project.path);
    const count = await listed();
    expect(count).toBeGreaterThan(1900);
    const from = performance.now();
    await carrel.ok('apply', 'box');
    const lengthMs = performance.now() - from;
    const after = stateOf(project.path);
    await carrel.ok('undo', 'box');
    for (let round = 0; round < rounds; round += 1) {
      const applying = carrel.run(['apply', 'box']);
      await sleep(random() * lengthMs);
      await carrel.killDaemon();
      await applying;
      expect([count, 0]).toContain(await listed());
      expect([before, after]).toContain(stateOf(project.path));
      const done = stateOf(project.path) === after;
      expect(await listed()).toBe(done ? 0 : count);
      if (done) await carrel.ok('undo', 'box');
      expect(stateOf(project.path)).toBe(before);
    }
  });
});

/** Numbers from 0 to 1, the same ones for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
