/**
 * Plans how the changes of one or more sandboxes are taken over into a project. The changes of each sandbox are decided
 * against the project as the sandboxes before it would leave it. Planning only reads; `commitApply` carries the result
 * out.
 */
import { type BytePath, toText } from '../../../../model/byte-path.ts';
import { Fault } from '../../../../model/fault.ts';
import { pathFilter } from '../../../../model/pathspec.ts';
import type { Change } from '../../model/change.ts';
import { Reader } from '../../tree/reader.ts';
import type { ApplyOptions, ApplyPlan, ApplySource } from '../apply.ts';
import { PlanSource } from './plan-source.ts';
import { PlannedProject } from './planned-project.ts';
import { stepsOf } from './steps-of.ts';

export function planApply(sources: readonly ApplySource[], project: string, options: ApplyOptions): ApplyPlan {
  checkPaths(sources, options.paths ?? []);
  const planned = new PlannedProject(project);
  const reader = new Reader();
  try {
    const paths = sources.flatMap(({ sandbox, changes }) =>
      new PlanSource({ planned, reader, sandbox, project, options }, changes).decide(wanted(changes, options)),
    );
    const blocked = paths.some(({ outcome }) => outcome === 'conflict' || outcome === 'gated');
    return { paths, blocked, steps: blocked ? [] : stepsOf(planned) };
  } finally {
    reader.close();
    planned.close();
  }
}

function checkPaths(sources: readonly ApplySource[], paths: readonly BytePath[]): void {
  const idle = pathFilter(paths).idle(sources.flatMap(({ changes }) => changes.map(({ path }) => path)));
  if (idle.length === 0) return;
  throw new Fault('not_found', `nothing changed at ${idle.map(toText).join(', ')}`, { data: { paths: idle } });
}

function wanted(changes: readonly Change[], { paths, only }: ApplyOptions): readonly Change[] {
  if (only !== undefined) return changes.filter(({ path }) => only.has(path));
  if (paths === undefined) return changes;
  const filter = pathFilter(paths);
  return changes.filter(({ path }) => filter.matches(path));
}
