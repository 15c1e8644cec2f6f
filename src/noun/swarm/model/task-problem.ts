/** Problems of a task file, and their text. This file is separate from the parser, which commands do not load. */
import { Fault } from '../../../model/fault.ts';

export interface TaskProblem {
  readonly line: number;
  /** Such as `userStories[2].id`; empty: the whole file. */
  readonly path: string;
  readonly reason: string;
}

/** All problems, a line each, with the name of the file. */
export function taskRefusal(name: string, problems: readonly TaskProblem[]): Fault {
  const lines = problems.map((one) => problemLine(name, one));
  return new Fault('invalid', lines.join('\n'), {
    hint: `Correct the file, then look again: carrel task validate ${name}`,
    data: { file: name, problems },
  });
}

export function problemLine(name: string, { line, path, reason }: TaskProblem): string {
  return [`${name}:${line}`, ...(path === '' ? [] : [path]), reason].join(': ');
}
