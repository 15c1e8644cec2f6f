/**
 * The order of test files. A few run at a time, so a long one that begins last runs alone. Vitest remembers durations from
 * the last run; in a fresh clone it knows none, and these files go first.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those with the most processor time and waiting, longest first. */
const longest = [
  'e2e/image.test.ts',
  'e2e/people.test.ts',
  'e2e/workspace-crash.test.ts',
  'e2e/crash-docker.test.ts',
  'e2e/swarm-agents.test.ts',
  'e2e/isolation-copy.test.ts',
  'e2e/swarm.test.ts',
  'e2e/workspace-docker.test.ts',
  'e2e/swarm-dockerd.test.ts',
  'e2e/isolation-limits.test.ts',
  'e2e/workspace-crash-snapshot.test.ts',
  'e2e/crash-docker-remove.test.ts',
  'e2e/swarm-limits.test.ts',
  'e2e/network-docker.test.ts',
  'e2e/isolation-kernel.test.ts',
  'conformance/engine-docker.test.ts',
  'conformance/engine-podman.test.ts',
  'conformance/engine-local.test.ts',
  'conformance/engine-local-runc.test.ts',
  'integration/apply-crash.test.ts',
  'integration/adapter-life.test.ts',
  'e2e/package.test.ts',
  'e2e/stall.test.ts',
  'integration/engine-docker-crash.test.ts',
  'integration/snapshot.test.ts',
  'integration/adapter.test.ts',
  'integration/engine-local-rootless.test.ts',
  'conformance/workspace.test.ts',
  'e2e/network-ports.test.ts',
  'e2e/podman.test.ts',
  'e2e/docker.test.ts',
  'e2e/crash-local.test.ts',
  'e2e/workspace-attack.test.ts',
  'e2e/isolation-files.test.ts',
  'e2e/fleet.test.ts',
  'e2e/workspace-crash-many.test.ts',
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
