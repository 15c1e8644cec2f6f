/**
 * The order of test files. A few run at the same time, so a long one that begins last would run alone. Vitest remembers
 * durations of the last run; in a fresh clone it knows none, and files with the mark `@takes` run first. Projects follow each
 * other, unit tests last, because a worker runs only files of one project.
 */
import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { readMarks } from './marks.ts';

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const seconds = new Map(sorted.map((file) => [file, secondsOf(file)]));
    return sorted.toSorted((a, b) => a.project.name.localeCompare(b.project.name) || seconds.get(b)! - seconds.get(a)!);
  }
}

function secondsOf({ moduleId }: TestSpecification): number {
  return readMarks(moduleId, readFileSync(moduleId, 'utf8')).takesSeconds;
}
