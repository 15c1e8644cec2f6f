/** What is wrong with a declaration, told by place: whoever has the file turns places into lines. */
import { Fault, type FaultCode } from '../model/fault.ts';
import type { Place, Problem } from './fleet.ts';

const mostShown = 20;

export function problem(code: FaultCode, place: Place, message: string, hint: string | null = null): Problem {
  return { code, place, message, hint };
}

/** Every problem in one refusal; its code is that of the first. */
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
