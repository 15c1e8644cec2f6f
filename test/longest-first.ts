/**
 * The order of test files. A few run at a time, so a long one that begins last runs alone. Vitest remembers durations from
 * the last run; in a fresh clone it knows none, and these files go first.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those above 20 seconds on two cores, longest first. */
const longest = [
  'e2e/workspace-crash.test.ts',
  'e2e/workspace-crash-snapshot.test.ts',
  'e2e/crash-docker.test.ts',
  'e2e/network-docker.test.ts',
  'e2e/network-root.test.ts',
  'e2e/network-rootless.test.ts',
  'e2e/workspace-input-root.test.ts',
  'e2e/workspace-input-rootless.test.ts',
  'e2e/workspace-docker.test.ts',
  'conformance/engine-podman.test.ts',
  'conformance/engine-docker.test.ts',
  'e2e/swarm-crash.test.ts',
  'e2e/workspace-rootless.test.ts',
  'e2e/workspace-root.test.ts',
  'e2e/crash-local.test.ts',
  'conformance/engine-local.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const index = longest.findIndex((name) => moduleId.endsWith(`/test/${name}`));
  return index < 0 ? longest.length : index;
}
