/** Problems of a declaration. Each names its field by path; the command line, which has the file, turns paths into lines. */
import { Fault, type FaultCode } from '../../../model/fault.ts';
import type { FieldPath, Problem } from './fleet.ts';

const mostShown = 20;

export function problem(code: FaultCode, place: FieldPath, message: string, hint: string | null = null): Problem {
  return { code, place, message, hint };
}

/** One fault for all problems, with the code of the first. */
export function refusal(all: readonly Problem[]): Fault {
  const problems = [...new Map(all.map((one) => [problemText(one), one])).values()];
  const hints = [...new Set(problems.flatMap(({ hint }) => hint ?? []))].slice(0, mostShown);
  return new Fault(problems[0]!.code, problems.map(problemText).slice(0, mostShown).join('\n'), {
    ...(hints.length === 0 ? {} : { hint: hints.join('\n') }),
    data: { problems: problems.slice(0, mostShown) },
  });
}

function problemText({ place, message }: Problem): string {
  return place.length === 0 ? message : `${place.join('.')}: ${message}`;
}
