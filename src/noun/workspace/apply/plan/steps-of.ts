/** Computes the steps from the project on disk to the planned project. */
import type { BytePath } from '../../../../model/byte-path.ts';
import type { ApplyStep } from '../apply.ts';
import type { DiskState, PathState, PlannedProject } from './planned-project.ts';

/**
 * No entry can be made or removed in a folder without write permission, so such modes are removed first and set last.
 */
const canWrite = (mode: number) => (mode & 0o300) === 0o300;

const order: readonly ((step: ApplyStep) => boolean)[] = [
  (step) => step.do === 'chmod' && canWrite(step.mode),
  (step) => step.do === 'remove',
  (step) => step.do === 'rmdir',
  (step) => step.do === 'mkdir',
  (step) => ['file', 'link', 'restore'].includes(step.do),
  (step) => step.do === 'chmod' && !canWrite(step.mode),
];

export function stepsOf(project: PlannedProject): ApplyStep[] {
  const paths = [...project.planned.keys()].sort();
  return inOrder(paths.flatMap((path) => stepsAt(path, project.onDisk(path), project.planned.get(path) ?? null)));
}

/** `steps` are sorted by path. */
export function inOrder(steps: readonly ApplyStep[]): ApplyStep[] {
  return order.flatMap((belongs, phase) => {
    const found = steps.filter(belongs);
    // Deepest first: entries before their folder.
    return phase === 2 || phase === 5 ? found.reverse() : found;
  });
}

function stepsAt(path: BytePath, real: DiskState | null, planned: PathState | null): ApplyStep[] {
  if (real === null) return planned ? [make(path, null, planned)] : [];
  const old = real.stamp;
  if (planned === null)
    return [old.type === 'folder' ? { do: 'rmdir', path, old, kept: true } : { do: 'remove', path, old }];
  if (isSameThing(real, planned)) {
    const { mode } = planned.entry;
    if (mode === real.entry.mode) return [];
    // A new file is made, so that the other hard links keep their mode.
    return old.type === 'file' && real.names > 1 ? [make(path, old, planned)] : [{ do: 'chmod', path, old, mode }];
  }
  if (old.type === 'folder') return [{ do: 'rmdir', path, old, kept: false }, make(path, null, planned)];
  return [make(path, old, planned)];
}

/** Equal except perhaps for the mode. */
function isSameThing(real: DiskState, { entry, source }: PathState): boolean {
  if (entry.type !== real.entry.type) return false;
  if (entry.type === 'link') return entry.target === real.entry.target;
  return entry.type === 'folder' || source === real.source;
}

function make(path: BytePath, old: DiskState['stamp'] | null, { entry, source, sha256 }: PathState): ApplyStep {
  if (entry.type === 'folder') return { do: 'mkdir', path, old, make: { mode: entry.mode, owner: null } };
  if (entry.type === 'link') return { do: 'link', path, old, target: entry.target! };
  return {
    do: 'file',
    path,
    old,
    make: { mode: entry.mode, sizeBytes: entry.sizeBytes, source: source!, sha256: sha256 ?? null },
  };
}
