/** The end of `apply` and `merge`: prints what happened and what to do next, and returns the exit code. */

import type { Context } from '../../../client/cli.ts';
import { counted } from '../../../client/output/count.ts';
import { commandLine, plain } from '../../../client/output/text.ts';
import { Fault } from '../../../model/fault.ts';
import type { ApplyRequest, ApplyView, PlannedView } from '../api.ts';
import { type PathOutcome, type Resolution, resolutions } from '../model/change.ts';

export type Verb = 'apply' | 'merge';

/** Called after the report is printed; returns the exit code. */
export function conclude(context: Context, verb: Verb, request: ApplyRequest, view: ApplyView): number {
  const { out } = context;
  if (context.json) out.document(view);
  for (const warning of view.warnings) out.warn(warning);
  if (view.always.length > 0) out.say(standing(verb, request, view));
  if (view.blocked !== null) return out.fail(obstacle(verb, request, view));
  if (context.json) return 0;
  if (!hasEffect(view)) out.say(nothing(request, view));
  else out.print(...sentences(request, view));
  return 0;
}

function standing(verb: Verb, { names }: ApplyRequest, { always }: ApplyView): string {
  const command = commandLine(['carrel', verb, ...names, '--ask', always.join(',')]);
  return `always allowed in this project: ${always.join(', ')} (${command} ends that)`;
}

/** The Fault for conflicts and gates, with the commands that resolve or allow them. */
export function obstacle(verb: Verb, request: ApplyRequest, view: ApplyView): Fault {
  const conflicts = select(view, 'conflict').length;
  const gated = select(view, 'gated');
  const reasons = [
    ...(conflicts === 0 ? [] : [counted(conflicts, 'conflict')]),
    ...(gated.length === 0 ? [] : [`${counted(gated.length, 'change')} not allowed`]),
  ];
  const kinds = [...new Set(gated.flatMap(({ gates }) => gates))].filter((kind) => !view.always.includes(kind));
  const allow = [...new Set([...(request.allow ?? []), ...kinds])];
  const outcome = isDry(request) ? 'nothing would be changed' : 'nothing was changed';
  return new Fault(view.blocked === 'conflict' ? 'conflict' : 'denied', `${outcome}: ${reasons.join(', ')}`, {
    hint: again(verb, { ...request, allow }, conflicts > 0),
  });
}

const meaning: Readonly<Record<Resolution, string>> = {
  theirs: 'the agent’s',
  ours: 'the project’s',
  markers: 'both between markers',
  leave: 'all but these',
};

/** The next command to type. A resolution that was tried and left conflicts is not offered again. */
function again(verb: Verb, request: ApplyRequest, undecided: boolean): string {
  const { names, paths = [], resolution, allow = [], branch, message } = request;
  const ways = resolutions.filter((way) => way !== resolution);
  const options = [
    ...(request.pick === undefined ? [] : ['-p']),
    ...(resolution === undefined || undecided ? [] : [`--${resolution}`]),
    ...(allow.length === 0 ? [] : ['--allow', allow.join(',')]),
    ...(request.always ? ['--always'] : []),
    ...(branch === undefined ? [] : ['--branch', branch]),
    ...(message === undefined ? [] : ['-m', message]),
  ];
  const command = [
    commandLine(['carrel', verb, ...names, ...options]),
    ...(undecided ? [ways.map((way) => `--${way}`).join('|')] : []),
    ...(paths.some((path) => path.startsWith('-')) ? ['--'] : []),
    ...(paths.length === 0 ? [] : [commandLine(paths)]),
  ].join(' ');
  const meanings = ways.map((way) => meaning[way]);
  return undecided ? `${command}\n(${meanings.slice(0, -1).join(', ')}, or ${meanings.at(-1)})` : command;
}

function sentences(request: ApplyRequest, view: ApplyView): string[] {
  const changed = select(view, 'take', 'merge', 'theirs', 'markers');
  const marked = select(view, 'markers').length;
  const from = request.names.map(plain).join(', ');
  const took = `${isDry(request) ? 'would take' : 'took'} ${counted(changed.length, 'change')} of ${from}`;
  const { branch } = view;
  return [
    took + (branch === null ? '' : ` as commit ${plain(branch.commit.slice(0, 12))} on branch ${plain(branch.name)}`),
    ...(marked === 0
      ? []
      : [`${counted(marked, 'file')} ${marked === 1 ? 'has' : 'have'} conflict markers to resolve`]),
    ...(view.apply === null ? [] : [`carrel undo ${plain(request.names[0]!)} takes it back`]),
  ];
}

function nothing({ names, paths }: ApplyRequest, view: ApplyView): string {
  if (view.paths.length > 0) return `there is nothing to take from ${names.join(', ')}`;
  const where = paths === undefined ? '' : ' there';
  return `${names.join(', ')} ${names.length === 1 ? 'has' : 'have'} no changes${where}`;
}

function isDry({ dryRun, ask }: ApplyRequest): boolean {
  return dryRun === true || ask !== undefined;
}

/** Whether any change was taken, or would be. */
function hasEffect(view: ApplyView): boolean {
  return view.apply !== null || view.branch !== null || select(view, 'take', 'merge', 'theirs', 'markers').length > 0;
}

function select(view: ApplyView, ...outcomes: readonly PathOutcome[]): PlannedView[] {
  return view.paths.filter(({ outcome }) => outcomes.includes(outcome));
}
