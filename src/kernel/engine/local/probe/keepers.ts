/** The row about living sandboxes and their keepers. */
import { readdirSync } from 'node:fs';
import { isErrno } from '../../../../lib/file/file.ts';
import { isAlive } from '../../../../lib/process/process.ts';
import type { ProbeRow } from '../../engine.ts';
import { failure, ok, warning } from '../../probe-row.ts';
import type { LocalContext } from '../context.ts';
import { currentHandle } from '../observe.ts';

/** A sandbox whose first process lives. */
export interface SandboxProcess {
  readonly id: string;
  readonly pid: number;
  readonly hasKeeper: boolean;
  /** The daemon may signal it. */
  readonly isReachable: boolean;
}

const name = 'keepers';

export function keepersRow(living: readonly SandboxProcess[]): ProbeRow {
  const lost = living.filter(({ isReachable }) => !isReachable);
  if (lost.length > 0) {
    const pids = lost.map(({ pid }) => pid).join(' ');
    const detail = `${idsOf(lost)} cannot be reached: in a user namespace that the daemon cannot enter`;
    return failure(name, detail, `End what runs there, as root: kill -9 ${pids}. Then: carrel rm --force NAME`);
  }
  const alone = living.filter(({ hasKeeper }) => !hasKeeper);
  if (alone.length === 0) return ok(name, `${living.length} running, each with a keeper`);
  const detail = `the keeper of ${idsOf(alone)} was killed: output and exit code are lost from then on`;
  return warning(name, detail, 'For a new one: carrel stop NAME; carrel start NAME');
}

function idsOf(living: readonly SandboxProcess[]): string {
  return living.map(({ id }) => id).join(', ');
}

export function livingSandboxes(context: LocalContext): SandboxProcess[] {
  return readdirSync(context.layout.runs).flatMap((id) => {
    const handle = currentHandle(context, id);
    if (handle === null || !isAlive(handle.init)) return [];
    const { pid } = handle.init;
    return [{ id, pid, hasKeeper: isAlive(handle.keeper), isReachable: isReachable(pid) }];
  });
}

function isReachable(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !isErrno(error, 'EPERM');
  }
}
