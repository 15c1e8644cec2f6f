import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { isRealRoot, isRepeated } from './test/harness/machine.ts';
import { openRun } from './test/harness/run.ts';
import { LongestFirst } from './test/longest-first.ts';
import { ownNamespace } from './test/own-namespace.ts';

openRun();

/** What makes accounts of its own, or attacks from both sides, has to be root of the machine. */
const needRoot = [
  'test/e2e/agent-rootless.test.ts',
  'test/e2e/bad-input.test.ts',
  'test/e2e/cgroup-v2.test.ts',
  'test/e2e/chroma*.test.ts',
  'test/e2e/crash-docker*.test.ts',
  'test/e2e/credential-elsewhere.test.ts',
  'test/e2e/docker*.test.ts',
  'test/e2e/doctor.test.ts',
  'test/e2e/guides*.test.ts',
  'test/e2e/home-on-overlay.test.ts',
  'test/e2e/hub-rootless.test.ts',
  'test/e2e/image*.test.ts',
  'test/e2e/isolation-*.test.ts',
  'test/e2e/network*.test.ts',
  'test/e2e/package.test.ts',
  'test/e2e/people.test.ts',
  'test/e2e/power-cut.test.ts',
  'test/e2e/podman.test.ts',
  'test/e2e/rootless.test.ts',
  'test/e2e/service.test.ts',
  'test/e2e/session-rootless.test.ts',
  'test/e2e/swarm-dockerd.test.ts',
  'test/e2e/workspace-docker.test.ts',
  'test/e2e/workspace-input-rootless.test.ts',
  'test/e2e/workspace-rootless.test.ts',
  'test/integration/chroma.test.ts',
  'test/integration/compose.test.ts',
  'test/integration/base-shared.test.ts',
  'test/integration/disk.test.ts',
  'test/integration/engine-docker*.test.ts',
  'test/conformance/chroma.test.ts',
  'test/conformance/engine-docker.test.ts',
  'test/integration/engine-local-rootless.test.ts',
  'test/conformance/engine-podman.test.ts',
  'test/conformance/image-docker.test.ts',
];
/**
 * Left out where CI runs conformance on a second Node: the same code of ours with another program below it, which the other run
 * has, says no more about Node.
 */
const onceInCi = ['test/conformance/engine-local-runc.test.ts', 'test/conformance/engine-podman.test.ts'];
/** By default the examples of `help` are parsed; running each takes more than a minute. */
const onlyWithAll = isRepeated ? [] : ['test/e2e/guides-cli*.test.ts'];
const isSecondNode = process.env.CARREL_TEST_AGAIN === '1';
if (!isRealRoot) console.log(`not root, so these are left out: ${needRoot.join(' ')}`);

/**
 * Two more than cores: tests wait for containers, disks and limits part of the time. The same for all projects, which then run
 * as one group: short unit tests come last (by the name of their project) and keep all cores busy until the end.
 */
const maxWorkers = availableParallelism() + 2;

/** Projects that use the real machine. */
function real(name: string) {
  return {
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`],
      exclude: [...onlyWithAll, ...(isRealRoot ? [] : needRoot), ...(isSecondNode ? onceInCi : [])],
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
      real('conformance'),
      real('integration'),
      real('e2e'),
    ],
  },
});
