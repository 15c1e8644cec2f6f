/**
 * Makes hard links of paths that are one file in the sandbox: the first path is made, or is in the project already, and
 * the others become links to it.
 */
import type { BytePath } from '../../../../model/byte-path.ts';
import type { ContentSource } from '../../tree/reader.ts';
import type { ApplyStep, NewFile } from '../apply.ts';
import type { PathState, PlannedProject } from './planned-project.ts';

export type IsSame = (one: ContentSource, other: ContentSource) => boolean;

type File = ApplyStep & { readonly do: 'file' };

export function withLinks(steps: readonly ApplyStep[], project: PlannedProject, isSame: IsSame): ApplyStep[] {
  const made = new Map<string, File[]>();
  return steps.map((step) => {
    const planned = step.do === 'file' ? project.planned.get(step.path) : undefined;
    const key = step.do === 'file' && planned ? fileOf(step.path, planned, project) : null;
    if (step.do !== 'file' || key === null) return step;
    const names = made.get(key) ?? [];
    const { path, old, make } = step;
    const first = names.find((one) => isOne(one.make, make));
    if (first) return { do: 'hardlink', path, old, to: first.path, was: null, make };
    const to = planned!.file ?? path;
    const was = to === path ? null : there(to, make, project, isSame);
    if (was) return { do: 'hardlink', path, old, to, was, make };
    made.set(key, [...names, step]);
    return step;
  });
}

/** Null: no other path can be the same file. */
function fileOf(path: BytePath, { from, file, source }: PathState, project: PlannedProject): string | null {
  if (file !== undefined) return `${from}\0${file}`;
  const real = project.onDisk(path);
  return real !== null && source === real.source ? `${real.stamp.ino}` : null;
}

/** False, for example, if one path was merged with the owner's changes and the other was not. */
function isOne(one: NewFile, other: NewFile): boolean {
  if (one.mode !== other.mode || one.sizeBytes !== other.sizeBytes) return false;
  const [here, there] = [one.source, other.source];
  if (here.from !== 'bytes' || there.from !== 'bytes') return here.from === there.from;
  return Buffer.compare(here.bytes, there.bytes) === 0;
}

/** The stamp of the project's file at that path, if it equals the sandbox's file and stays; null: it does not. */
function there(path: BytePath, make: NewFile, project: PlannedProject, isSame: IsSame) {
  const real = project.planned.has(path) ? null : project.onDisk(path);
  if (real?.stamp.type !== 'file' || real.stamp.mode !== make.mode || real.stamp.sizeBytes !== make.sizeBytes)
    return null;
  return isSame(real.source!, make.source) ? real.stamp : null;
}
