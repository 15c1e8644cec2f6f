/**
 * The order of test files. A few run at the same time, so a long one that begins last would run alone. Vitest remembers
 * durations of the last run; in a fresh clone it knows none, and these files run first. Projects follow each other,
 * unit tests last, because a worker runs only files of one project.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** End-to-end tests with the most processor time and waiting, longest first. */
const longest = [
  ...['package', 'image', 'workspace-crash', 'people', 'isolation-limits', 'workspace-crash-snapshot', 'swarm-agents'],
  ...[
    'fleet',
    'crash-local',
    'swarm',
    'network-ports',
    'isolation-kernel',
    'workspace-attack',
    'stall',
    'crash-docker',
  ],
  ...[
    'session-proof',
    'daemon-life',
    'network-docker',
    'power-cut',
    'docker',
    'readme',
    'isolation-copy',
    'swarm-many',
  ],
  ...[
    'workspace-docker',
    'swarm-crash',
    'session-root',
    'crash-docker-remove',
    'agent',
    'disk-full',
    'isolation-files',
  ],
].map((name) => `/test/e2e/${name}.test.ts`);

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => a.project.name.localeCompare(b.project.name) || rank(a) - rank(b));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const index = longest.findIndex((name) => moduleId.endsWith(name));
  return index < 0 ? longest.length : index;
}
