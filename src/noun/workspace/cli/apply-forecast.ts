/**
 * What a merge of several sandboxes would do: paths that one sandbox changed, paths that merge cleanly, and conflicts.
 */

import type { Output } from '../../../client/output/output.ts';
import type { ApplyView, PlannedView } from '../api.ts';
import { group, groups } from './apply-report.ts';

type Test = (path: PlannedView) => boolean;

export function forecast({ paths }: ApplyView, out: Output): string[] {
  const touching = sandboxesByPath(paths);
  const contested = new Set(paths.filter(({ conflict }) => conflict !== null).map(keyOf));
  const quiet: Test = ({ outcome }) => outcome === 'take' || outcome === 'merge' || outcome === 'same';
  const alone: Test = (path) => touching.get(keyOf(path))!.size === 1;
  const fought: Test = (path) => contested.has(keyOf(path));
  const smooth: readonly (readonly [title: string, test: Test])[] = [
    ['only one touched', (path) => alone(path) && path.outcome !== 'merge'],
    ['only one touched, merge with the project', (path) => alone(path) && path.outcome === 'merge'],
    ['several touched, merge cleanly', (path) => !alone(path) && !fought(path)],
    ['several touched, others conflict with these', (path) => !alone(path) && fought(path)],
  ];
  return [
    ...smooth.flatMap(([title, test]) =>
      group(
        title,
        paths.filter((path) => quiet(path) && test(path)),
        true,
        out,
      ),
    ),
    ...groups.flatMap(([outcome, , title]) =>
      group(
        title,
        paths.filter((path) => !quiet(path) && path.outcome === outcome),
        true,
        out,
      ),
    ),
  ];
}

function sandboxesByPath(paths: readonly PlannedView[]): Map<string, Set<string>> {
  const touching = new Map<string, Set<string>>();
  for (const path of paths) {
    const key = keyOf(path);
    touching.set(key, (touching.get(key) ?? new Set()).add(path.sandbox));
  }
  return touching;
}

function keyOf({ path, pathBase64 }: PlannedView): string {
  return pathBase64 ?? Buffer.from(path).toString('base64');
}
