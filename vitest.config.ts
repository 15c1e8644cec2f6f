import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { isRealRoot, isRepeated } from './test/harness/machine.ts';
import { openRun } from './test/harness/run.ts';
import { LongestFirst } from './test/longest-first.ts';
import { marksBelow, type Need } from './test/marks.ts';
import { ownNamespace } from './test/own-namespace.ts';

openRun();

const kinds = ['conformance', 'integration', 'e2e'] as const;
type Kind = (typeof kinds)[number];

/** What test files can need, and whether this run has it. */
const met: Readonly<Record<Need, boolean>> = {
  root: isRealRoot,
  all: isRepeated,
  'first-node': process.env.CARREL_TEST_AGAIN !== '1',
};
if (!isRealRoot) console.log(`not root; left out: ${kinds.flatMap(leftOut).join(' ')}`);

/**
 * Two more than cores: tests wait for containers, disks and limits part of the time. The same for all projects, which then run
 * as one group: short unit tests come last (by the name of their project) and keep all cores busy until the end.
 */
const maxWorkers = availableParallelism() + 2;

/** The test files of a kind with a need (see test/marks.ts) that this run does not meet. */
function leftOut(kind: Kind): string[] {
  return [...marksBelow(`test/${kind}`)].flatMap(([path, marks]) =>
    marks.needs.every((need) => met[need]) ? [] : [path],
  );
}

/** Projects that use the real machine. */
function real(name: Kind) {
  return {
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`],
      exclude: leftOut(name),
      globalSetup: ['test/leftovers.ts'],
      pool: ownNamespace,
      // See test/own-namespace.ts.
      isolate: name !== 'e2e',
      maxWorkers,
      // More than any test takes: what waits for something that must come says itself when it has waited in vain.
      testTimeout: 180_000,
      hookTimeout: 180_000,
      // Vitest's own second is too short for a machine that stalls.
      expect: { poll: { timeout: 40_000 } },
    },
  };
}

export default defineConfig({
  test: {
    reporters: ['default', './test/tally.ts'],
    teardownTimeout: 30_000,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/*.test.ts', 'test/fakes/**/*.test.ts'],
          globalSetup: ['test/leftovers.ts'],
          // A process for each file costs more than the tests: 84 seconds of processor time instead of 33.
          isolate: false,
          maxWorkers,
          // What tries many inputs takes two seconds, and on a busy machine more than the five of vitest.
          testTimeout: 30_000,
          expect: { poll: { timeout: 20_000 } },
        },
      },
      ...kinds.map(real),
    ],
  },
});
